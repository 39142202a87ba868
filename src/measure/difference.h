// SPDX-License-Identifier: Apache-2.0
// The test behind compare.h: one metric of one row in two documents.
#pragma once

#include "measure/compare.h"

namespace marrow::measure {

/// Fills ratio, interval, test and verdict. Both metrics have the same name, unit and kind.
[[nodiscard]] Compared difference(const Metric& a, const Metric& b, const CompareLimits& limits);

}  // namespace marrow::measure
