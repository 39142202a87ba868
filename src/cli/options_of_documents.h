// SPDX-License-Identifier: Apache-2.0
// Parsers of the commands that read documents.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"

namespace marrow::cli {

/// \throws util::Error of kind kUsage.
[[nodiscard]] CompareOptions parse_compare(const std::vector<std::string>& words);
[[nodiscard]] MergeOptions parse_merge(const std::vector<std::string>& words);
[[nodiscard]] ReportOptions parse_report(const std::vector<std::string>& words);

}  // namespace marrow::cli
