// SPDX-License-Identifier: Apache-2.0
// Rings in host memory with CPU threads behind them. They check and complete each descriptor, and post nothing: what is
// measured is the hand-off and the wait for the answer, without any NIC.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <thread>
#include <vector>

#include "experiments/enclosing_kernel/traffic.h"
#include "marrow/gda/team.h"
#include "marrow/proxy/consumer.h"
#include "util/clock.h"
#include "util/error.h"

namespace marrow::experiments::enclosing {
namespace {

using HandOff = proxy::SharedRing<proxy::Tuned>;
constexpr unsigned kRings = 32;
constexpr unsigned kMostWorkers = 4;
constexpr std::uint32_t kDepth = 512;

class ProxyTraffic final : public Traffic {
 public:
  ProxyTraffic(Context& context, const CallerBench& bench)
      : blocks_(bench.shape().blocks),
        memory_(gpu::pinned_memory(bench.device(), kRings * proxy::ring_bytes<HandOff>(kDepth))),
        producers_(bench.device(), kRings),
        rings_on_gpu_(bench.device(), kRings),
        seen_(blocks_, 0) {
    for (unsigned r = 0; r < kRings; ++r) {
      auto* base = memory_->data() + r * proxy::ring_bytes<HandOff>(kDepth);
      auto ring = proxy::lay_out_ring<HandOff>(base, kDepth, producers_.data() + r);
      ring.timeout_ns = static_cast<std::uint64_t>(context.limit.count()) / 4;
      rings_.push_back(ring);
    }
    rings_on_gpu_.write(rings_);
    const auto workers = std::clamp(usable_cores() - 1, 1U, kMostWorkers);
    for (unsigned w = 0; w < workers; ++w) threads_.emplace_back([this, w, workers] { serve(w, workers); });
  }
  ~ProxyTraffic() override {
    stop_ = true;
    for (auto& thread : threads_) thread.join();
  }

  void join(Job& job) const override {
    job.rings = rings_on_gpu_.data();
    job.ring_mask = kRings - 1;
  }

  void expect(const Job& job) override {
    std::fill(seen_.begin(), seen_.end(), 0);
    first_message_.store(job.first_message, std::memory_order_release);
  }

  void settle(const Job& job) override {
    expected_ += std::uint64_t{blocks_} * static_cast<unsigned>(std::popcount(job.sending_rounds));
    const auto until = util::now() + std::chrono::seconds(10);
    while (taken_.load(std::memory_order_acquire) < expected_) {
      if (util::now() < until) continue;
      throw util::Error(fmt::format("of {} descriptors {} arrived", expected_, taken_.load()));
    }
    if (wrong_ != 0) throw util::Error(fmt::format("{} descriptors were wrong or came twice", wrong_.load()));
    for (unsigned block = 0; block < blocks_; ++block) {
      if (seen_[block] == job.sending_rounds) continue;
      throw util::Error(fmt::format("block {}: messages of rounds {:#x} arrived, {:#x} were sent", block, seen_[block],
                                    job.sending_rounds));
    }
  }

  [[nodiscard]] measure::ActivePath path() const override {
    measure::ActivePath path;
    path.nic = fmt::format("none: {} CPU threads take the descriptors and answer at once", threads_.size());
    path.link_layer = "none";
    path.doorbell = "none: descriptors are the announcement";
    path.registration = fmt::format("{} rings of {} descriptors in host memory (cudaHostAlloc)", kRings, kDepth);
    return path;
  }

 private:
  void serve(unsigned worker, unsigned workers) {
    std::vector<proxy::Consumer<HandOff>> consumers;
    for (unsigned r = worker; r < kRings; r += workers) consumers.emplace_back(rings_[r]);
    while (!stop_.load(std::memory_order_relaxed)) {
      for (auto& consumer : consumers) {
        while (const auto request = consumer.take()) {
          consumer.free_up_to(consumer.taken());
          consumer.complete_up_to(consumer.taken());
          note(*request);
        }
      }
    }
  }

  /// A block's messages all come through one ring, so one worker writes its `seen_`.
  void note(const proxy::Request& request) {
    const auto block = request.to / kCellBytes;
    const auto round = request.from - first_message_.load(std::memory_order_acquire);
    const bool known = block < blocks_ && round < kRounds && request.op == proxy::Op::kPut;
    if (!known || (seen_[block] >> round & 1U) != 0) {
      ++wrong_;
    } else {
      seen_[block] |= 1U << round;
    }
    taken_.fetch_add(1, std::memory_order_release);
  }

  unsigned blocks_;
  std::unique_ptr<verbs::Memory> memory_;
  gpu::Array<proxy::ProducerState> producers_;
  gpu::Array<proxy::Ring> rings_on_gpu_;
  std::vector<proxy::Ring> rings_;
  std::vector<std::uint32_t> seen_;
  std::atomic<std::uint32_t> first_message_{0};
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<std::uint64_t> wrong_{0};
  std::uint64_t expected_ = 0;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;  // last: they use everything above
};

}  // namespace

std::unique_ptr<Traffic> proxy_traffic(Context& context, const CallerBench& bench) {
  return std::make_unique<ProxyTraffic>(context, bench);
}

}  // namespace marrow::experiments::enclosing
