// SPDX-License-Identifier: Apache-2.0
// The texts of --help and --version. tests/cli checks that every option of the parser is in them.
#pragma once

#include <string>
#include <string_view>

namespace marrow::cli {

/// \param command  a command's name, or empty for the tool's own page.
[[nodiscard]] std::string_view help_text(std::string_view command);
[[nodiscard]] std::string version_text();

}  // namespace marrow::cli
