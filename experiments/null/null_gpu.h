// SPDX-License-Identifier: Apache-2.0
// null on a lane of a GPU; only in builds with CUDA.
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

void null_on_gpu(Context& context, const Point& point, measure::Record& record);

}  // namespace marrow::experiments
