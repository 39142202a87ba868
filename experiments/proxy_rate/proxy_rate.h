// SPDX-License-Identifier: Apache-2.0
// Figure 7 and Table 10: how does a proxy's message rate grow with its workers and with the requests it chains?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment proxy_rate();

}  // namespace marrow::experiments
