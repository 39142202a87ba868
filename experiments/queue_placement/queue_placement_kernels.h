// SPDX-License-Identifier: Apache-2.0
// What queue_placement.cu offers to plain C++.
#pragma once

#include <string_view>

#include "experiments/common/gpu/put_kernels.h"

namespace marrow::experiments {

/// \throws util::Error for a policy that is not of queue_placement_policies.h.
[[nodiscard]] PutKernels queue_placement_puts(std::string_view policy);

}  // namespace marrow::experiments
