// SPDX-License-Identifier: Apache-2.0
// All experiments, in the order in which `marrow list` shows them.
#pragma once

#include <vector>

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] std::vector<Experiment> catalogue();

}  // namespace marrow::experiments
