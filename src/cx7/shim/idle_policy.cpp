// SPDX-License-Identifier: Apache-2.0
// See idle_policy.h.
#include "cx7/shim/idle_policy.h"

#include <algorithm>
#include <utility>

namespace marrow::cx7 {

IdlePolicy::IdlePolicy(SpinRule rule, unsigned cores, std::function<Evidence()> evidence)
    : rule_(rule == SpinRule::kAuto && cores < 2 ? SpinRule::kNever : rule), evidence_(std::move(evidence)) {}

IdlePolicy::Duration IdlePolicy::pause(Duration now, bool doorbells) {
  if (rule_ == SpinRule::kAlways) return Duration{0};
  if (!doorbells) return kDeepSleep;
  if (may_spin(now)) return Duration{0};
  const Duration idle = now - last_work_;
  if (idle > kLongIdle && !crowded_) return kLongIdleNap;
  // The longer nothing happened, the less likely something happens now: a hundredth of the time waited so far.
  return std::clamp(idle / 100, kShortestNap, crowded_ ? kLongestCrowdedNap : kLongestNap);
}

bool IdlePolicy::wants_alarm(Duration now) {
  if (rule_ == SpinRule::kAlways || now - last_work_ <= kAlarmAfter) return false;
  if (now >= next_look_) {
    look_at_evidence(now);
    next_look_ = now + kIdleEvidenceEvery;
  }
  return !crowded_;
}

bool IdlePolicy::may_spin(Duration now) {
  if (rule_ == SpinRule::kNever || now - last_work_ > kSpinAfterWork || now < no_spin_until_) return false;
  if (now >= next_look_) look_at_evidence(now);
  return now >= no_spin_until_;
}

void IdlePolicy::look_at_evidence(Duration now) {
  next_look_ = now + kEvidenceEvery;
  const Evidence evidence = evidence_();
  const bool interrupted =
      evidence.involuntary_switches != std::exchange(seen_switches_, evidence.involuntary_switches);
  crowded_ = evidence.crowded;
  if (crowded_) no_spin_until_ = now + kCrowdedPause;
  if (!interrupted) return;
  // Crowded or not, the core was taken away, and being without it cost far more than the look. Again soon after the
  // last penalty: somebody really wants it, so try less and less often.
  if (now - penalised_until_ > kForgivenAfter) penalty_ = kFirstPenalty;
  no_spin_until_ = penalised_until_ = now + penalty_;
  penalty_ = std::min(penalty_ * 2, kLongestPenalty);
}

}  // namespace marrow::cx7
