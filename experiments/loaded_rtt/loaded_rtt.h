// SPDX-License-Identifier: Apache-2.0
// Figure 6: what happens to a probe's round trip when bulk lanes at both ends use the same NIC?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment loaded_rtt();

}  // namespace marrow::experiments
