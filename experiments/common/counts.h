// SPDX-License-Identifier: Apache-2.0
// From a counting probe to a record's counts, and the counts that a policy's recipe promises.
#pragma once

#include <cstdint>

#include "marrow/gda/probe.h"
#include "measure/record.h"

namespace marrow::experiments {

/// All of the probe's counts under the names of the JSON document, over `operations`.
[[nodiscard]] measure::Counts counts_of(const gda::Counts& counts, std::uint64_t operations);

/// What `operations` puts of `ds` 16-byte segments must have cost by the recipe, one doorbell and one CQE each.
[[nodiscard]] gda::Counts promised_counts(const gda::Recipe& recipe, std::uint32_t ds, std::uint64_t operations);

/// What `operations` operations cost that cost `each`.
[[nodiscard]] gda::Counts counts_times(const gda::Counts& each, std::uint64_t operations);

/// Adds the expectation that both are the same.
void expect_counts(measure::Record& record, const gda::Counts& seen, const gda::Counts& promised);

}  // namespace marrow::experiments
