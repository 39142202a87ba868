// SPDX-License-Identifier: Apache-2.0
// What single_op.cu offers to plain C++.
#pragma once

#include "experiments/common/gpu/put_kernels.h"

namespace marrow::experiments {

enum class SingleOpRow { kInline, kPointer, kUnordered };

[[nodiscard]] PutKernels single_op_puts(SingleOpRow row);
[[nodiscard]] gpu::Kernel<TripJob> single_op_round_trips(SingleOpRow row);

}  // namespace marrow::experiments
