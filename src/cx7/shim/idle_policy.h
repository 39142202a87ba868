// SPDX-License-Identifier: Apache-2.0
// What the engine thread does after a step that found nothing to do: look again at once, or sleep, and how long.
// A doorbell is a plain store that wakes nobody, so while there are queue pairs the engine must look; whoever looks on
// a core that somebody else needs makes everything slower. Evidence that somebody does is an involuntary context
// switch. Pure: time and evidence are passed in. Sizes of the pauses [obs: a sleep below 20 us never really sleeps, and
// the thread then loses its wake-up preemption].
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "cx7/shim/settings.h"

namespace marrow::cx7 {

class IdlePolicy {
 public:
  using Duration = std::chrono::nanoseconds;

  static constexpr Duration kSpinAfterWork = std::chrono::milliseconds(10);
  static constexpr Duration kShortestNap = std::chrono::microseconds(20);
  static constexpr Duration kLongestNap = std::chrono::microseconds(400);
  static constexpr Duration kDeepSleep = std::chrono::milliseconds(50);  // no doorbell can come
  static constexpr Duration kFirstPenalty = std::chrono::milliseconds(1);
  static constexpr Duration kLongestPenalty = std::chrono::seconds(1);
  static constexpr Duration kForgivenAfter = std::chrono::milliseconds(50);
  static constexpr Duration kEvidenceEvery = std::chrono::microseconds(50);

  /// `evidence` counts involuntary context switches; asked at most every kEvidenceEvery. `cores` is how many the
  /// process may run on: with one, nobody spins unless told to.
  IdlePolicy(SpinRule rule, unsigned cores, std::function<std::uint64_t()> evidence);

  /// A step did something.
  void worked(Duration now) { last_work_ = now; }
  /// A step did nothing: how long to sleep, zero for not at all. `doorbells` says whether one may come.
  [[nodiscard]] Duration pause(Duration now, bool doorbells);

 private:
  bool may_spin(Duration now);
  void look_at_evidence(Duration now);

  SpinRule rule_;
  std::function<std::uint64_t()> evidence_;
  Duration last_work_{0};
  Duration next_look_{0};
  std::uint64_t seen_ = 0;
  Duration penalty_ = kFirstPenalty;  // the next one
  Duration no_spin_until_{0};
};

}  // namespace marrow::cx7
