// SPDX-License-Identifier: Apache-2.0
// A streaming caller so thin that eight blocks fit on an SM, as many as there are, with dormant code beside it.
#include "experiments/enclosing_residency/enclosing_residency.h"

#include "experiments/enclosing_kernel/enclosing_kernel.h"

namespace marrow::experiments {

Experiment enclosing_residency() {
  Experiment experiment{.name = "enclosing-residency",
                        .title = "Section 4.3.2, eight blocks an SM",
                        .needs = "a GPU",
                        .iterations = 45,
                        .run = enclosing::refuse_host_lane,
                        .run_on_gpu = enclosing::on_gpu()};
  for (const auto* path : {"mini-gda", "mini-proxy"}) {
    for (const auto* packaging : {"inlined", "bounded"}) {
      experiment.variants.push_back({path,
                                     packaging,
                                     {{"caller", std::string("stream")},
                                      {"live_values", std::int64_t{8}},
                                      {"arm", std::string("dormant")},
                                      {"blocks", std::int64_t{8 * 132}}}});
    }
  }
  return experiment;
}

}  // namespace marrow::experiments
