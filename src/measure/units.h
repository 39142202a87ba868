// SPDX-License-Identifier: Apache-2.0
// Units that documents may hold and thresholds may name, and which way is better. A unit that is not here is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/record.h"

namespace marrow::measure {

enum class Better : std::uint8_t { kLess, kMore, kNeither };

/// Of a metric by its unit, and by its name where the unit does not say.
[[nodiscard]] Better better_of(const Metric& metric);

/// Units of documents.
[[nodiscard]] bool is_unit(std::string_view unit);

/// What one `from` is in `to`: 0.001 from ns to us. None when they measure different things or one is unknown.
[[nodiscard]] std::optional<double> factor_between(std::string_view from, std::string_view to);

/// Every unit that a threshold may name, for error messages.
[[nodiscard]] std::vector<std::string> unit_names();

}  // namespace marrow::measure
