// SPDX-License-Identifier: Apache-2.0
// Table 4: how do the ordering choices ahead of the doorbell change issue and put+completion?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment ordering();

}  // namespace marrow::experiments
