// SPDX-License-Identifier: Apache-2.0
// Section 4.3.1 and appendix D.1: what does it cost to publish on a queue that many may post to?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment gdaki_publication();

}  // namespace marrow::experiments
