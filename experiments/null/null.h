// SPDX-License-Identifier: Apache-2.0
// The null experiment: the harness with nothing inside the timed windows. What it shows is the harness's own.
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment null_experiment();

}  // namespace marrow::experiments
