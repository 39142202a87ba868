// SPDX-License-Identifier: Apache-2.0
// Figure 4: what does it cost to wait for every queue instead of the one that was used?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment completion_scope();

}  // namespace marrow::experiments
