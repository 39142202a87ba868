// SPDX-License-Identifier: Apache-2.0
// The final completion drain of mini-gda's queues: not part of any measured time.
#pragma once

#include "experiments/enclosing_kernel/job.h"

namespace marrow::experiments::enclosing {

/// One thread a block waits for everything that its queue has posted.
[[nodiscard]] gpu::Kernel<Job> drain_kernel();

}  // namespace marrow::experiments::enclosing
