// SPDX-License-Identifier: Apache-2.0
// What null.cu offers to plain C++.
#pragma once

#include "experiments/common/gpu/jobs.h"
#include "gpu/launch.h"

namespace marrow::experiments {

/// The kernel of all single puts, with a poster of nothing.
[[nodiscard]] gpu::Kernel<PutJob> null_puts();
/// Readings of the clock in a straight line.
[[nodiscard]] gpu::Kernel<PutJob> bare_readings();

}  // namespace marrow::experiments
