// SPDX-License-Identifier: Apache-2.0
// host-doorbell on lanes of a GPU; only in builds with CUDA.
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

void host_doorbell_on_gpu(Context& context, const Point& point, measure::Record& record);

}  // namespace marrow::experiments
