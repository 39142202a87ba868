// SPDX-License-Identifier: Apache-2.0
// All bulk lanes of an end share one queue or one ring, as in the paper's dashed curves; the probe shares it, or has
// its own. Each bulk lane keeps 128 to 256 messages under way, as a CTA of the paper does until its ring is full.
#include "experiments/loaded_rtt/loaded_rtt.h"

#include "experiments/common/load/host_lanes.h"
#include "experiments/loaded_rtt/loaded_rtt_row.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/common/load/gpu/gpu_lanes.h"
#endif

namespace marrow::experiments {

Experiment loaded_rtt() {
  return {
      .name = "loaded-rtt",
      .title = "Figure 6, a round trip beside bulk traffic",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; gpu lanes: a GPU of sm_90 or newer",
      .variants = {{"mini-gda", std::string(LoadPolicy::name), {{"sharing", std::string("slots")}}},
                   proxy_row(1, 1, 16)},
      .sweeps = {{.name = "background",
                  .meaning = "bulk lanes at each end",
                  .values = {0, 1, 4, 16, std::int64_t{kBulkLanes}},
                  .min = 0,
                  .max = std::int64_t{kBulkLanes}}},
      .iterations = 40,
      .run = loaded_rtt_row<HostLanes>,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = loaded_rtt_row<GpuLanes>,
#endif
  };
}

}  // namespace marrow::experiments
