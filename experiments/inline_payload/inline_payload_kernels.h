// SPDX-License-Identifier: Apache-2.0
// What inline_payload.cu offers to plain C++.
#pragma once

#include "experiments/common/gpu/put_kernels.h"

namespace marrow::experiments {

enum class PayloadRow { kInline, kPointer };

[[nodiscard]] PutKernels inline_payload_puts(PayloadRow row);
/// One operation of the job is a burst.
[[nodiscard]] gpu::Kernel<PutJob> inline_payload_bursts(PayloadRow row);

}  // namespace marrow::experiments
