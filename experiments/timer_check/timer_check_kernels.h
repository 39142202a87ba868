// SPDX-License-Identifier: Apache-2.0
// What timer_check.cu offers to plain C++.
#pragma once

#include "experiments/common/gpu/jobs.h"
#include "gpu/launch.h"

namespace marrow::experiments {

[[nodiscard]] gpu::Kernel<TripJob> timer_check_trips();

}  // namespace marrow::experiments
