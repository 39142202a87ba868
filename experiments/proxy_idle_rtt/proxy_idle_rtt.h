// SPDX-License-Identifier: Apache-2.0
// Table 3 and section 4.2: how long does one message take through a CPU worker while nothing else goes on?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment proxy_idle_rtt();

}  // namespace marrow::experiments
