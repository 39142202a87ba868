// SPDX-License-Identifier: Apache-2.0
// Figure 11: how does the time of one put grow with its payload, by either transport?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment latency_payload();

}  // namespace marrow::experiments
