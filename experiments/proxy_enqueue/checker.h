// SPDX-License-Identifier: Apache-2.0
// The worker of proxy-enqueue: a CPU thread that takes each descriptor, compares it with its number, and answers at
// once. It posts nothing: no NIC is part of this experiment.
#pragma once

#include <atomic>
#include <thread>

#include "experiments/proxy_enqueue/enqueue_job.h"
#include "marrow/proxy/consumer.h"

namespace marrow::experiments::enqueue {

/// Runs from construction to destruction. The ring must outlive it.
template <proxy::HandOffType H>
class Checker {
 public:
  Checker(const proxy::Ring& ring, bool crowded) : crowded_(crowded), thread_([this, ring] { serve(ring); }) {}
  ~Checker() {
    stop_ = true;
    thread_.join();
  }
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  [[nodiscard]] std::uint64_t taken() const { return taken_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_.load(std::memory_order_acquire); }

 private:
  void serve(const proxy::Ring& ring) {
    proxy::Consumer<H> consumer(ring);
    while (!stop_.load(std::memory_order_relaxed)) {
      const auto request = consumer.take();
      if (!request) {
        if (crowded_) std::this_thread::sleep_for(std::chrono::microseconds(20));
        continue;
      }
      if (*request != expected_request(consumer.taken() - 1)) wrong_.fetch_add(1);
      taken_.store(consumer.taken(), std::memory_order_release);
      consumer.free_up_to(consumer.taken());
      consumer.complete_up_to(consumer.taken());
    }
  }

  bool crowded_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<std::uint64_t> wrong_{0};
  std::thread thread_;  // last: it uses everything above
};

}  // namespace marrow::experiments::enqueue
