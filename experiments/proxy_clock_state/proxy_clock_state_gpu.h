// SPDX-License-Identifier: Apache-2.0
// proxy-clock-state on lanes of a GPU; only in builds with CUDA.
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

void proxy_clock_state_on_gpu(Context& context, const Point& point, measure::Record& record);

}  // namespace marrow::experiments
