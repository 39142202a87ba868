// SPDX-License-Identifier: Apache-2.0
// What `marrow list NAME` says of one experiment: its rows and axes, and what the paper did and printed.
#pragma once

#include <string>

#include "experiments/experiment.h"
#include "measure/suite.h"

namespace marrow::cli {

/// \param entry  of the suite; null for an experiment that it does not have.
[[nodiscard]] std::string details(const experiments::Experiment& experiment, const measure::SuiteEntry* entry,
                                  std::size_t width);
/// Of the paper's experiments that Marrow does not have.
[[nodiscard]] std::string details(const measure::SuiteEntry& entry, std::size_t width);

}  // namespace marrow::cli
