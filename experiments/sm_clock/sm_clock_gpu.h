// SPDX-License-Identifier: Apache-2.0
// sm-clock on lanes of a GPU; only in builds with CUDA.
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

void sm_clock_on_gpu(Context& context, const Point& point, measure::Record& record);

}  // namespace marrow::experiments
