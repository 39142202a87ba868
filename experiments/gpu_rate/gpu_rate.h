// SPDX-License-Identifier: Apache-2.0
// Table 5: how does the message rate depend on threads, queues, SMs, sharing and WQEs per doorbell?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment gpu_rate();

}  // namespace marrow::experiments
