// SPDX-License-Identifier: Apache-2.0
// Section 4.2: what does chaining requests cost a probe with a ring of its own, under load?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment batch_under_load();

}  // namespace marrow::experiments
