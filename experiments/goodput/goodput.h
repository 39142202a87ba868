// SPDX-License-Identifier: Apache-2.0
// Figure 8: from which payload on does each transport fill the link?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment goodput();

}  // namespace marrow::experiments
