// SPDX-License-Identifier: Apache-2.0
// Host only: rings for lanes that cannot, or should not, reach the register (DoorbellSequence::kForwarded). A lane
// stores its producer index in a word of host memory; a thread here reads it, stores the record and rings. Aside of
// stop 4.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "marrow/gda/order.h"
#include "marrow/gda/policy.h"
#include "marrow/gda/team.h"

namespace marrow::gda {

class HostRinger {
 public:
  /// What the thread does when no word moves: spin on a core of its own, or nap 20 us after 1024 looks for nothing.
  enum class Idle : std::uint8_t { kSpin, kNap };

  HostRinger() = default;
  HostRinger(const HostRinger&) = delete;
  HostRinger& operator=(const HostRinger&) = delete;
  ~HostRinger() { stop(); }

  /// Before start(). \param qp    as the host sees it: register and record.
  ///                 \param word  what the lanes' Qp::doorbell points to, as the host sees it; it holds the index so
  ///                 far.
  void add(const Qp& qp, std::uint64_t& word) { lines_.push_back({qp, &word, std::atomic_ref(word).load()}); }

  /// Looks at each word once. Returns how many doorbells it rang. By one thread.
  unsigned step() {
    unsigned rang = 0;
    for (auto& line : lines_) rang += ring_if_moved(line);
    return rang;
  }

  void start(Idle idle) {
    stop_ = false;
    thread_ = std::thread([this, idle] { run(idle); });
  }
  /// After the last look for whatever came before.
  void stop() {
    if (!thread_.joinable()) return;
    stop_ = true;
    thread_.join();
  }
  /// For a thread of the caller's own, pinned as he likes: until stop_running().
  void run(Idle idle) {
    unsigned looks = 0;
    while (!stop_.load(std::memory_order_relaxed)) {
      looks = step() > 0 ? 0 : looks + 1;
      if (idle == Idle::kNap && looks > 1024) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    step();
  }
  void stop_running() { stop_ = true; }

  [[nodiscard]] std::uint64_t rung() const { return rung_; }
  /// Words that moved by more than their ring holds, or back: no poster of ours does that. They are not followed
  /// further.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  struct Line {
    Qp qp;
    std::uint64_t* word;
    std::uint64_t last;
    bool broken = false;
  };

  unsigned ring_if_moved(Line& line) {
    const auto pi = std::atomic_ref(*line.word).load(std::memory_order_acquire);
    if (pi == line.last || line.broken) return 0;
    if (pi - line.last > line.qp.sq_wqebbs) {
      line.broken = true;
      ++refused_;
      return 0;
    }
    constexpr Recipe kRecipe = recipe_of(Ordering::kSystemFence);
    order_wqe_before_dbrec<kRecipe>();
    store_dbrec<kRecipe>(line.qp.dbrec_send, pi);
    order_dbrec_before_doorbell<kRecipe>(line.qp.doorbell_mapping);
    ring_doorbell<kRecipe>(line.qp, pi);
    line.last = pi;
    ++rung_;
    return 1;
  }

  std::vector<Line> lines_;
  std::thread thread_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> rung_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
};

}  // namespace marrow::gda
