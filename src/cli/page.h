// SPDX-License-Identifier: Apache-2.0
// The program of `marrow report`, as npm made it from report/.
#pragma once

#include <string_view>

namespace marrow::cli {

/// Empty in a build without Node.js.
[[nodiscard]] std::string_view report_page();

}  // namespace marrow::cli
