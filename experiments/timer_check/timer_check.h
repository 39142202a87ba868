// SPDX-License-Identifier: Apache-2.0
// Appendix A: do the timers see a delay that was put in on purpose?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment timer_check();

}  // namespace marrow::experiments
