// SPDX-License-Identifier: Apache-2.0
// Rows for spreadsheets and scripts: RFC 4180 text, one line a metric, the statistic in each column's title.
#pragma once

#include <string>

#include "measure/compare.h"
#include "measure/document.h"

namespace marrow::measure {

/// One line a metric; a record without metrics has one line with its status and reason.
[[nodiscard]] std::string to_csv(const Document& document);
[[nodiscard]] std::string to_csv(const Comparison& comparison);

/// Quoted where it holds a comma, a quote or a line's end.
[[nodiscard]] std::string csv_cell(const std::string& text);

}  // namespace marrow::measure
