// SPDX-License-Identifier: Apache-2.0
// Figure 9 and Table 14: what do dormant code, sending, and waiting cost the useful work of the kernel around them?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment enclosing_kernel();

namespace enclosing {

/// The host lane of the three enclosing experiments, which is none: \throws util::Error of kind kWaived.
void refuse_host_lane(Context& context, const Point& point, measure::Record& record);
/// Their lane on a GPU: the comparison that the point names. Empty in a build without CUDA.
[[nodiscard]] std::function<void(Context&, const Point&, measure::Record&)> on_gpu();

}  // namespace enclosing
}  // namespace marrow::experiments
