// SPDX-License-Identifier: Apache-2.0
// Section 4.3.2: does even the bare path cost throughput when residency is high?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment enclosing_residency();

}  // namespace marrow::experiments
