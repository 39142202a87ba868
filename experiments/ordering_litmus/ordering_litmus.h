// SPDX-License-Identifier: Apache-2.0
// How often does the NIC read older bytes than a doorbell announced, by recipe and by where the queues lie?
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment ordering_litmus();

}  // namespace marrow::experiments
