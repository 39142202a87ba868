// SPDX-License-Identifier: Apache-2.0
// The kernel's launch, for the host.
#pragma once

#include <cuda_runtime_api.h>

#include "cx7/cuda/tables.h"

namespace marrow::cx7::cuda {

/// Brings the kernel's code onto the current device now: a load while a shift runs would wait for its end.
cudaError_t load_kernel();
/// Starts a shift; returns at once.
cudaError_t launch_shift(const ShiftOrder& order, cudaStream_t stream);

}  // namespace marrow::cx7::cuda
