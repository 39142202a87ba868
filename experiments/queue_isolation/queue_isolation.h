// SPDX-License-Identifier: Apache-2.0
// Table 11: how much of a loaded round trip does a queue of its own win back, at the same carried load?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment queue_isolation();

}  // namespace marrow::experiments
