// SPDX-License-Identifier: Apache-2.0
// The help pages of the commands that read documents.
#pragma once

#include <string_view>

namespace marrow::cli {

/// Empty for a command that is not one of them.
[[nodiscard]] std::string_view help_of_documents(std::string_view command);

}  // namespace marrow::cli
