// SPDX-License-Identifier: Apache-2.0
// Appendix D.2: how do inlining and separate compilation trade register demand against spills as live state grows?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment enclosing_live_values();

}  // namespace marrow::experiments
