// SPDX-License-Identifier: Apache-2.0
// What ordering.cu offers to plain C++.
#pragma once

#include <string_view>

#include "experiments/common/gpu/put_kernels.h"

namespace marrow::experiments {

/// Of one of gda::OrderingPolicies; without entries for any other name.
[[nodiscard]] PutKernels ordering_puts(std::string_view policy);

}  // namespace marrow::experiments
