// SPDX-License-Identifier: Apache-2.0
// Section 4.3.3: what does a dynamically connected queue cost, and what a new destination for each put?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment dc_cost();

}  // namespace marrow::experiments
