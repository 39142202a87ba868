// SPDX-License-Identifier: Apache-2.0
// Bursts by host lanes: some CPU threads, each of which plays several lanes in turn.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "experiments/common/load/burst.h"
#include "experiments/common/load/host_sender.h"

namespace marrow::experiments {

/// The lanes of the near end.
/// \tparam T  a transport: `way(end, lane, cargo)` makes a T::Way.
template <class T>
class HostBurst {
  using Way = typename T::Way;

 public:
  HostBurst(const Context& context, T& transport, unsigned threads)
      : context_(context), places_(transport.ends().shape().places), threads_(threads) {
    const auto lanes = transport.ends().shape().lanes;
    for (std::uint32_t i = 0; i < lanes; ++i) lanes_.push_back(std::make_unique<Lane>(transport, i));
  }

  [[nodiscard]] std::uint64_t messages() const { return std::uint64_t{places_} * lanes_.size(); }

  /// One repetition. \returns its nanoseconds. \throws util::Error when a message failed or is not what was sent.
  double run() {
    for (auto& lane : lanes_) load_burst(lane->cargo, repetition_, places_);
    const auto ticks = time_all();
    for (auto& lane : lanes_) {
      require_sent({lane->status, false, repetition_ * places_}, lane->cargo.lane);
      require_sent(check_burst(lane->cargo, repetition_, places_), lane->cargo.lane);
    }
    ++repetition_;
    return context_.clock->ns(ticks);
  }

 private:
  struct Lane {
    Lane(T& transport, std::uint32_t i)
        : cargo(transport.ends().cargo(End::kNear, i)), way(transport.way(End::kNear, i, cargo)) {}
    Cargo cargo;
    Way way;
    typename Way::Ticket ticket;
    gda::Status status = gda::Status::kOk;
  };

  std::uint64_t time_all() {
    std::atomic<bool> go{false};
    std::vector<std::thread> helpers;
    for (unsigned t = 1; t < threads_; ++t) {
      helpers.emplace_back([this, t, &go] {
        while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
        send(t);
      });
    }
    const auto start = context_.clock->ticks();
    go.store(true, std::memory_order_release);
    send(0);
    for (auto& helper : helpers) helper.join();
    return context_.clock->ticks() - start;
  }

  void send(unsigned thread) noexcept {
    for (std::uint32_t at = 0; at < places_; at += kBurstRun) {
      for (auto i = thread; i < lanes_.size(); i += threads_) {
        auto& lane = *lanes_[i];
        if (lane.status != gda::Status::kOk) continue;
        lane.ticket = lane.way.post(burst_run(at, places_));
        lane.status = lane.ticket.status;
      }
    }
    for (auto i = thread; i < lanes_.size(); i += threads_) {
      auto& lane = *lanes_[i];
      if (lane.status == gda::Status::kOk) lane.status = lane.way.wait(lane.ticket);
    }
  }

  const Context& context_;
  std::uint32_t places_;
  unsigned threads_;
  std::uint64_t repetition_ = 0;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace marrow::experiments
