// SPDX-License-Identifier: Apache-2.0
// What the .cu files of host-doorbell offer to plain C++.
#pragma once

#include "experiments/common/gpu/put_kernels.h"
#include "experiments/gpu_rate/rate_kernels.h"

namespace marrow::experiments {

[[nodiscard]] PutKernels host_doorbell_puts(bool by_host);
/// Grid: a CTA of one warp for each queue.
[[nodiscard]] gpu::Kernel<RateJob> host_doorbell_rate(bool by_host);

}  // namespace marrow::experiments
