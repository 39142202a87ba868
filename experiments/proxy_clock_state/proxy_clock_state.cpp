// SPDX-License-Identifier: Apache-2.0
// One row a hand-off, with both states in it. The rates stand in the row of the tuned one. The paper rests for 45 s and
// loads for 20 s; here both are axes, and short unless they are asked for.
#include "experiments/proxy_clock_state/proxy_clock_state.h"

#include "experiments/common/load/host_lanes.h"
#include "experiments/proxy_clock_state/clock_state_row.h"
#include "experiments/proxy_idle_rtt/host_times.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/proxy_clock_state/proxy_clock_state_gpu.h"
#endif

namespace marrow::experiments {
namespace {

void run_proxy_clock_state(Context& context, const Point& point, measure::Record& record) {
  const auto singles = [&](const Context& brief) {
    return point.policy == proxy::Baseline::name ? host_single_times<proxy::Baseline>(brief, true)
                                                 : host_single_times<proxy::Tuned>(brief, true);
  };
  clock_state_row<HostLanes>(context, point, singles, record);
}

}  // namespace

Experiment proxy_clock_state() {
  return {
      .name = "proxy-clock-state",
      .title = "Tables 9 and 10, a proxy on cold and on warm cores",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; cores whose clock follows their load",
      .variants = {{"mini-proxy", std::string(proxy::Baseline::name), {}},
                   {"mini-proxy", std::string(proxy::Tuned::name), {}}},
      .sweeps = {{.name = "idle_ms",
                  .meaning = "rest before the cold half; the paper's is 45000",
                  .values = {1000},
                  .min = 0,
                  .max = 120'000},
                 {.name = "load_ms",
                  .meaning = "load before the warm half; the paper's is 20000",
                  .values = {500},
                  .min = 0,
                  .max = 120'000}},
      .iterations = 200,
      .run = run_proxy_clock_state,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = proxy_clock_state_on_gpu,
#endif
  };
}

}  // namespace marrow::experiments
