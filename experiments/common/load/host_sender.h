// SPDX-License-Identifier: Apache-2.0
// A CPU thread that plays all bulk lanes of one end, one after the other: half a window of each at a time.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "experiments/common/load/bulk.h"
#include "experiments/common/load/load_options.h"
#include "util/clock.h"
#include "util/error.h"

namespace marrow::experiments {

/// \throws util::Error unless the lane's messages all went well.
inline void require_sent(const SendFailure& failure, std::uint32_t lane) {
  if (failure.ok()) return;
  if (failure.wrong) {
    throw util::Error(
        fmt::format("lane {}: message {} is not at the far side what was sent, or not there", lane, failure.at));
  }
  throw util::Error(fmt::format("lane {}: message {}: {}", lane, failure.at, gda::status_name(failure.status)));
}

/// Runs from construction until finish() or destruction.
/// \tparam T  a transport: `way(end, lane, cargo)` makes a T::Way.
template <class T>
class HostSender {
  using Way = typename T::Way;

 public:
  HostSender(T& transport, End end, Pace pace)
      : window_(transport.ends().shape().places),
        ns_per_half_(pace.messages_a_second > 0 ? 1e9 / pace.messages_a_second * window_ / 2 : 0) {
    const auto lanes = transport.ends().shape().lanes;
    for (std::uint32_t i = 0; i < lanes; ++i) lanes_.push_back(std::make_unique<Lane>(transport, end, i));
    thread_ = std::thread([this] { run(); });
  }
  ~HostSender() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  HostSender(const HostSender&) = delete;
  HostSender& operator=(const HostSender&) = delete;

  /// Messages that have arrived and were compared.
  [[nodiscard]] std::uint64_t carried() const { return carried_.load(std::memory_order_acquire); }
  [[nodiscard]] bool has_ended() const { return ended_.load(std::memory_order_acquire); }

  /// Lets everything under way arrive, and compares it. \throws util::Error when something was wrong.
  void finish() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  struct Lane {
    Lane(T& transport, End end, std::uint32_t i)
        : cargo(transport.ends().cargo(end, i)),
          way(transport.way(end, i, cargo)),
          bulk(way, cargo, transport.ends().shape().places) {}
    Cargo cargo;
    Way way;
    Bulk<Way> bulk;
  };

  void run() noexcept {
    try {
      send_until_stopped();
      for (auto& lane : lanes_) {
        const auto before = lane->bulk.carried();
        if (!lane->bulk.drain()) require_sent(lane->bulk.failure(), lane->cargo.lane);
        carried_.fetch_add(lane->bulk.carried() - before, std::memory_order_release);
      }
    } catch (...) {
      error_ = std::current_exception();
    }
    ended_.store(true, std::memory_order_release);
  }

  void send_until_stopped() {
    const auto start = util::now();
    std::uint64_t halves = 0;
    while (true) {
      for (auto& lane : lanes_) {
        if (!wait_for_turn(start, halves++)) return;
        const auto before = lane->bulk.carried();
        if (!lane->bulk.step()) require_sent(lane->bulk.failure(), lane->cargo.lane);
        carried_.fetch_add(lane->bulk.carried() - before, std::memory_order_release);
      }
    }
  }
  /// False when it is time to stop.
  [[nodiscard]] bool wait_for_turn(std::chrono::nanoseconds start, std::uint64_t half) const {
    const auto due = start + std::chrono::nanoseconds(static_cast<std::int64_t>(ns_per_half_ * double(half)));
    while (!stop_ && util::now() < due) std::this_thread::sleep_for(std::chrono::microseconds(20));
    return !stop_;
  }

  std::uint32_t window_;
  double ns_per_half_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::atomic<std::uint64_t> carried_{0};
  std::atomic<bool> stop_{false};
  std::atomic<bool> ended_{false};
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace marrow::experiments
