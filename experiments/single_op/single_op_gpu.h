// SPDX-License-Identifier: Apache-2.0
// single-op on lanes of a GPU; only in builds with CUDA.
#pragma once

#include "experiments/experiment.h"
#include "experiments/single_op/single_op_kernels.h"

namespace marrow::experiments {

/// Also of sm-clock, which has the same rows.
[[nodiscard]] SingleOpRow single_op_row(const Point& point);

void single_op_on_gpu(Context& context, const Point& point, measure::Record& record);

}  // namespace marrow::experiments
