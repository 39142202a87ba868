// SPDX-License-Identifier: Apache-2.0
// From names on the command line to the points that will be measured; everything unknown is refused before any device
// is opened.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/options.h"
#include "experiments/experiment.h"

namespace marrow::cli {

/// One record to come. `experiment` points into the list that select() was given.
struct Task {
  const experiments::Experiment* experiment = nullptr;
  experiments::Point point;
};

/// \throws util::Error of kind kUsage for an unknown experiment, policy, axis or value, with the closest names.
[[nodiscard]] std::vector<Task> select(std::span<const experiments::Experiment> all, const RunOptions& options);

/// The names of an experiment's policies and axes, each once, in order of appearance.
[[nodiscard]] std::vector<std::string> policy_names(const experiments::Experiment& experiment);
[[nodiscard]] std::vector<std::string> axis_names(const experiments::Experiment& experiment);

}  // namespace marrow::cli
