// SPDX-License-Identifier: Apache-2.0
// See idle_policy.h.
#include "cx7/shim/idle_policy.h"

#include <algorithm>
#include <utility>

namespace marrow::cx7 {

IdlePolicy::IdlePolicy(SpinRule rule, unsigned cores, std::function<std::uint64_t()> evidence)
    : rule_(rule == SpinRule::kAuto && cores < 2 ? SpinRule::kNever : rule), evidence_(std::move(evidence)) {}

IdlePolicy::Duration IdlePolicy::pause(Duration now, bool doorbells) {
  if (rule_ == SpinRule::kAlways) return Duration{0};
  if (!doorbells) return kDeepSleep;
  if (may_spin(now)) return Duration{0};
  // The longer nothing happened, the less likely something happens now: a sixteenth of the time waited so far.
  return std::clamp((now - last_work_) / 16, kShortestNap, kLongestNap);
}

bool IdlePolicy::may_spin(Duration now) {
  if (rule_ == SpinRule::kNever || now - last_work_ > kSpinAfterWork || now < no_spin_until_) return false;
  if (now >= next_look_) look_at_evidence(now);
  return now >= no_spin_until_;
}

void IdlePolicy::look_at_evidence(Duration now) {
  next_look_ = now + kEvidenceEvery;
  const std::uint64_t count = evidence_();
  if (count == std::exchange(seen_, count)) return;
  // Interrupted again soon after the last penalty: the core is really wanted, so ask less and less often.
  if (now - no_spin_until_ > kForgivenAfter) penalty_ = kFirstPenalty;
  no_spin_until_ = now + penalty_;
  penalty_ = std::min(penalty_ * 2, kLongestPenalty);
}

}  // namespace marrow::cx7
