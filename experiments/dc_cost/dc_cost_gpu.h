// SPDX-License-Identifier: Apache-2.0
// dc-cost on lanes of a GPU; only in builds with CUDA.
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

void dc_cost_on_gpu(Context& context, const Point& point, measure::Record& record);

}  // namespace marrow::experiments
