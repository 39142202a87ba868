// SPDX-License-Identifier: Apache-2.0
// Section 4.1: which parts of the GPU-to-host hand-off set the enqueue time, and how far can it fall?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment proxy_enqueue();

}  // namespace marrow::experiments
