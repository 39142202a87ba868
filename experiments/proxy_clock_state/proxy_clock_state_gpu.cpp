// SPDX-License-Identifier: Apache-2.0
// The host's part of proxy-clock-state on a GPU: what changes is the state of the workers' cores.
#include "experiments/proxy_clock_state/proxy_clock_state_gpu.h"

#include "experiments/common/load/gpu/gpu_lanes.h"
#include "experiments/proxy_clock_state/clock_state_row.h"
#include "experiments/proxy_idle_rtt/gpu_times.h"

namespace marrow::experiments {

void proxy_clock_state_on_gpu(Context& context, const Point& point, measure::Record& record) {
  const auto singles = [&](const Context& brief) {
    return point.policy == proxy::Baseline::name ? gpu_single_times<proxy::Baseline>(brief, true)
                                                 : gpu_single_times<proxy::Tuned>(brief, true);
  };
  clock_state_row<GpuLanes>(context, point, singles, record);
}

}  // namespace marrow::experiments
