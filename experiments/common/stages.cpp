// SPDX-License-Identifier: Apache-2.0
// Names of the stages, and which kind of time each is.
#include "experiments/common/stages.h"

namespace marrow::experiments {

std::optional<double> ns_per_lane_tick(const measure::LaneClock& clock) {
#if defined(__x86_64__)
  if (!clock.is_tsc()) return std::nullopt;
  return clock.ns_per_tick();
#else
  (void)clock;
  return 1.0;
#endif
}

void add_stages(measure::Record& record, StageKinds kinds, const StageSamples& stages) {
  add_time(record, "stage: write", kinds.lane, stages.write);
  add_time(record, "stage: order", kinds.lane, stages.order);
  add_time(record, "stage: doorbell", kinds.lane, stages.doorbell);
  add_time(record, "doorbell to CQE", kinds.nic, stages.wait);
}

}  // namespace marrow::experiments
