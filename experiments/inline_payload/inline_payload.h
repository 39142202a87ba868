// SPDX-License-Identifier: Apache-2.0
// Figure 3: when does carrying the payload inside the WQE beat a pointer to it?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment inline_payload();

}  // namespace marrow::experiments
