// SPDX-License-Identifier: Apache-2.0
// Tables 9 and 10: what does the state of the host's cores do to a proxy's latency, tail and rate?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment proxy_clock_state();

}  // namespace marrow::experiments
