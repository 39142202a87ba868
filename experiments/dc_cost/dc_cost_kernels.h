// SPDX-License-Identifier: Apache-2.0
// What dc_cost.cu offers to plain C++.
#pragma once

#include "experiments/common/gpu/put_kernels.h"
#include "experiments/dc_cost/dc_ends.h"

namespace marrow::experiments {

/// Single puts, timed and counted.
[[nodiscard]] PutKernels dc_cost_puts(DcRow::Transport transport);
/// Bursts of kDcBurst puts.
[[nodiscard]] gpu::Kernel<PutJob> dc_cost_bursts(DcRow::Transport transport);

}  // namespace marrow::experiments
