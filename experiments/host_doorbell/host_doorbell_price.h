// SPDX-License-Identifier: Apache-2.0
// What a host-rung doorbell adds, from two measurements of one run.
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

/// Adds "extra put+completion": the difference of the medians. \param by_lane  measured just before `by_host`.
void add_price(const Context& context, const measure::Record& by_lane, measure::Record& by_host);

}  // namespace marrow::experiments
