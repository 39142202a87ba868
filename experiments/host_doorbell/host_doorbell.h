// SPDX-License-Identifier: Apache-2.0
// Section 4.3.1: does the lane need to ring itself, and what does a doorbell cost that a host thread rings?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment host_doorbell();

}  // namespace marrow::experiments
