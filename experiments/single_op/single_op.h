// SPDX-License-Identifier: Apache-2.0
// Table 3: what does one 8 B put cost to issue, to complete, and there and back?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment single_op();

}  // namespace marrow::experiments
