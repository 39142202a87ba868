// SPDX-License-Identifier: Apache-2.0
// The kernels that measure one way of putting, as a .cu file hands them to plain C++.
#pragma once

#include "experiments/common/gpu/jobs.h"
#include "gpu/launch.h"

namespace marrow::experiments {

/// A kernel without entry is one that the row does not have.
struct PutKernels {
  gpu::Kernel<PutJob> time;
  gpu::Kernel<PutJob> count;   // with a counting probe
  gpu::Kernel<PutJob> floor;   // the same stores, fences and doorbell, and nothing else
  gpu::Kernel<PutJob> stages;  // with a stage probe
};

}  // namespace marrow::experiments
