// SPDX-License-Identifier: Apache-2.0
// The rate of one set-up of workers with host lanes as producers.
#pragma once

#include "experiments/proxy_rate/rate_set_up.h"

namespace marrow::experiments {

/// Context::iterations repetitions, each of which is compared whole. Adds that the NIC executed as many WQEs as were
/// posted. \param reports  tells the path, for the header.
[[nodiscard]] ProxyRates host_rates(const Context& context, const RateSetUp& set_up, bool reports,
                                    measure::Record& record);

}  // namespace marrow::experiments
