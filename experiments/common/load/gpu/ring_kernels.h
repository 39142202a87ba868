// SPDX-License-Identifier: Apache-2.0
// What ring_puts.cu offers to plain C++.
#pragma once

#include "experiments/common/load/gpu/load_jobs.h"

namespace marrow::experiments {

struct RingKernels {
  gpu::Kernel<RingPutJob> put;
  gpu::Kernel<ProbeJob<proxy::Ring>> probe;
};
[[nodiscard]] RingKernels baseline_kernels();
[[nodiscard]] RingKernels tuned_kernels();
}  // namespace marrow::experiments
