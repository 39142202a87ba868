// SPDX-License-Identifier: Apache-2.0
// The program of `marrow report`, as npm made it from report/: a file beside the tool, because the tool must not wait
// for npm to be built.
#pragma once

#include <string>

namespace marrow::cli {

/// \throws util::Error of kind kWaived where it is not beside this tool.
[[nodiscard]] std::string report_page();

}  // namespace marrow::cli
