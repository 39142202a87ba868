// SPDX-License-Identifier: Apache-2.0
// What host_doorbell.cu offers to plain C++.
#pragma once

#include "experiments/common/gpu/put_kernels.h"

namespace marrow::experiments {

[[nodiscard]] PutKernels host_doorbell_puts(bool by_host);

}  // namespace marrow::experiments
