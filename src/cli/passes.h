// SPDX-License-Identifier: Apache-2.0
// --runs and --noise: the same rows in several processes, one after another, pooled into one record a row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/runner.h"

namespace marrow::cli {

struct PassOptions {
  unsigned runs = 1;            // at least so many
  std::optional<double> noise;  // percent: go on until the interval of every time and rate is this narrow
  double limit_s = 600;         // but begin no further run after this long
};

/// Runs all tasks once, then again, and so on. Rows whose intervals are narrow enough are left out of later passes. A
/// row that the limit ended says so in a warning.
[[nodiscard]] RunOutcome run_passes(const std::vector<Task>& tasks, const RunSettings& settings, const std::string& nic,
                                    const PassOptions& options);

/// The widest interval of the record's times and rates, as ± percent of the median; none where there is no interval.
struct Widest {
  std::string metric;
  double percent = 0;
};
[[nodiscard]] std::optional<Widest> widest_interval(const measure::Record& record);

}  // namespace marrow::cli
