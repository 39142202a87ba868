// SPDX-License-Identifier: Apache-2.0
// What publication_rate.cu offers to plain C++: many lanes that publish each put by themselves on one queue a CTA.
#pragma once

#include <string_view>

#include "experiments/gpu_rate/rate_kernels.h"
#include "gpu/launch.h"

namespace marrow::experiments {

/// Grid: a CTA a queue. With `in_step` the lanes of a warp wait for each other after each put.
[[nodiscard]] gpu::Kernel<RateJob> publication_rate_kernel(std::string_view policy, bool in_step);

}  // namespace marrow::experiments
