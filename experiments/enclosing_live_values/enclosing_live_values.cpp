// SPDX-License-Identifier: Apache-2.0
// The compute caller with dormant code, inlined and as a function of its own, from 8 to 224 live values.
#include "experiments/enclosing_live_values/enclosing_live_values.h"

#include "experiments/enclosing_kernel/enclosing_kernel.h"

namespace marrow::experiments {

Experiment enclosing_live_values() {
  Experiment experiment{.name = "enclosing-live-values",
                        .title = "Appendix D.2, live values across a call",
                        .needs = "a GPU",
                        .iterations = 21,
                        .run = enclosing::refuse_host_lane,
                        .run_on_gpu = enclosing::on_gpu()};
  for (const std::int64_t live : {8, 32, 96, 160, 224}) {
    for (const auto* path : {"mini-gda", "mini-proxy"}) {
      for (const auto* packaging : {"inlined", "separate"}) {
        experiment.variants.push_back({path,
                                       packaging,
                                       {{"caller", std::string("compute")},
                                        {"live_values", live},
                                        {"arm", std::string("dormant")},
                                        {"blocks", std::int64_t{528}}}});
      }
    }
  }
  return experiment;
}

}  // namespace marrow::experiments
