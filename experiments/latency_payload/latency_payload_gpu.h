// SPDX-License-Identifier: Apache-2.0
// latency-payload on lanes of a GPU; only in builds with CUDA.
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

void latency_payload_on_gpu(Context& context, const Point& point, measure::Record& record);

}  // namespace marrow::experiments
