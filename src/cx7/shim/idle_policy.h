// SPDX-License-Identifier: Apache-2.0
// What the engine thread does after a step that found nothing to do: look again at once, or sleep, and how long.
// A doorbell is a plain store that wakes nobody, so while there are queue pairs the engine must look; whoever looks on
// a core that somebody else needs makes everything slower. Evidence that somebody does is an involuntary context
// switch. Pure: time and evidence are passed in. Sizes of the pauses [obs: a sleep below 20 us never really sleeps, and
// the thread then loses its wake-up preemption].
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>

#include "cx7/shim/settings.h"

namespace marrow::cx7 {

/// What speaks against spinning, at this moment.
struct Evidence {
  bool crowded = false;                    // more runnable threads than cores
  std::uint64_t involuntary_switches = 0;  // of the engine thread, since it began
};

class IdlePolicy {
 public:
  using Duration = std::chrono::nanoseconds;

  static constexpr Duration kSpinAfterWork = std::chrono::milliseconds(10);
  static constexpr Duration kShortestNap = std::chrono::microseconds(20);
  static constexpr Duration kLongestNap = std::chrono::microseconds(400);
  static constexpr Duration kLongestCrowdedNap = std::chrono::microseconds(300);
  static constexpr Duration kAlarmAfter = std::chrono::milliseconds(20);
  static constexpr Duration kLongIdle = std::chrono::seconds(1);
  static constexpr Duration kLongIdleNap = std::chrono::milliseconds(2);
  static constexpr Duration kDeepSleep = std::chrono::milliseconds(50);    // no doorbell can come
  static constexpr Duration kCrowdedPause = std::chrono::milliseconds(1);  // then it may look again
  static constexpr Duration kFirstPenalty = std::chrono::milliseconds(1);
  static constexpr Duration kLongestPenalty = std::chrono::seconds(1);
  static constexpr Duration kForgivenAfter = std::chrono::milliseconds(50);
  static constexpr Duration kEvidenceEvery = std::chrono::microseconds(50);
  static constexpr Duration kIdleEvidenceEvery = std::chrono::milliseconds(20);

  /// `evidence` is asked at most every kEvidenceEvery. `cores` is how many the process may run on: with one, nobody
  /// spins unless told to.
  IdlePolicy(SpinRule rule, unsigned cores, std::function<Evidence()> evidence);

  /// A step did something.
  void worked(Duration now) {
    last_work_ = now;
    next_look_ = std::min(next_look_, now + kEvidenceEvery);
  }
  /// A step did nothing: how long to sleep, zero for not at all. `doorbells` says whether one may come
  /// unseen.
  [[nodiscard]] Duration pause(Duration now, bool doorbells);
  /// So long without work that being told of the next doorbell is worth some effort. Not where cores are contended: the
  /// alarm makes the ringing thread wait for the engine, and it would then stand in line for its core.
  [[nodiscard]] bool wants_alarm(Duration now);

 private:
  bool may_spin(Duration now);
  void look_at_evidence(Duration now);

  SpinRule rule_;
  std::function<Evidence()> evidence_;
  Duration last_work_{0};
  Duration next_look_{0};
  bool crowded_ = false;  // at the last look
  std::uint64_t seen_switches_ = 0;
  Duration penalty_ = kFirstPenalty;  // the next one
  Duration penalised_until_{0};
  Duration no_spin_until_{0};
};

}  // namespace marrow::cx7
