// SPDX-License-Identifier: Apache-2.0
// Section 4.1: how long after the doorbell store is a valid CQE seen?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment completion_breakdown();

}  // namespace marrow::experiments
