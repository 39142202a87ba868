// SPDX-License-Identifier: Apache-2.0
// Section 4.1: what changes when the queues lie in host memory?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment queue_placement();

}  // namespace marrow::experiments
