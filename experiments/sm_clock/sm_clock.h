// SPDX-License-Identifier: Apache-2.0
// Figure 5 and Table 6: how much of a put's time follows the SM clock.
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment sm_clock();

}  // namespace marrow::experiments
