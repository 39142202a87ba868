// SPDX-License-Identifier: Apache-2.0
// What shared_queues.cu and like_gdaki.cu offer to plain C++.
#pragma once

#include <string_view>

#include "experiments/common/gpu/put_kernels.h"

namespace marrow::experiments {

/// Without entries for names that the other file has.
[[nodiscard]] PutKernels shared_queue_puts(std::string_view policy);
[[nodiscard]] PutKernels like_gdaki_puts(std::string_view policy);

}  // namespace marrow::experiments
