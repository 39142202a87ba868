// SPDX-License-Identifier: Apache-2.0
// See device_faults.h.
#include "cx7/fabric/device_faults.h"

#include <utility>

namespace marrow::cx7 {

DeviceFaults::DeviceFaults(FaultPlan plan, LinkCounters& counters) : plan_(std::move(plan)), counters_(counters) {
  for (const FaultRule& rule : plan_.rules) {
    if (rule.kind == FaultKind::kStart) first_psn_ = rule.psn;
  }
}

/// The time of the first rule of this kind that the next of what it may meet does meet; 0: of none.
DeviceFaults::Time DeviceFaults::draw(FaultKind kind) {
  const auto n = ++drawn_[static_cast<std::size_t>(kind)];
  for (std::size_t k = 0; k < plan_.rules.size(); ++k) {
    const FaultRule& rule = plan_.rules[k];
    if (rule.kind == kind && fault_chance(plan_, k, n) < rule.rate) return rule.time;
  }
  return Time{0};
}

bool DeviceFaults::withholds_receive(Time now) {
  if (now >= storm_until_) storm_until_ = now + draw(FaultKind::kRnrStorm);
  if (now >= storm_until_) return false;
  ++counters_.faults_rnr;
  return true;
}

DeviceFaults::Time DeviceFaults::holds_cqe() {
  return draw(FaultKind::kHeldCqe);
}

DeviceFaults::Time DeviceFaults::overlooks_doorbell() {
  const Time late = draw(FaultKind::kLateDoorbell);
  if (late != Time{0}) ++counters_.faults_doorbells_late;
  return late;
}

}  // namespace marrow::cx7
