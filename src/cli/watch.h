// SPDX-License-Identifier: Apache-2.0
// What the software NIC recorded about one message, as lines for stops 5 to 8.
#pragma once

#include <vector>

#include "experiments/experiment.h"

namespace marrow::cli {

/// Starts an empty record, or stops it. A device must be open. \throws util::Error when there is none.
void watch_software_nic(bool on);

/// Everything since the record was started, oldest first.
[[nodiscard]] std::vector<experiments::TraceLine> what_the_nic_saw();

}  // namespace marrow::cli
