// SPDX-License-Identifier: Apache-2.0
// From the times of single messages to a record of proxy-idle-rtt, for both lanes.
#pragma once

#include <vector>

#include "experiments/experiment.h"

namespace marrow::experiments {

inline constexpr std::uint32_t kIdleBytes = 8;

/// Nanoseconds.
struct SingleTimes {
  std::vector<double> issue_ns;
  std::vector<double> completion_ns;
  std::vector<double> trip_ns;
};

/// Adds "enqueue", "put+completion" and "round trip".
void add_single_times(const Context& context, const SingleTimes& times, measure::Record& record);

struct Beside {
  SingleTimes baseline;
  SingleTimes gda;
};
/// Adds the baseline's and mini-gda's times and what the tuned hand-off promises beside them; on gpu lanes it is
/// expected, for a CPU's lanes have neither PCIe nor cores of their own to show it.
void add_beside(const Context& context, const Beside& beside, measure::Record& record);

}  // namespace marrow::experiments
