// SPDX-License-Identifier: Apache-2.0
// Writing to stdout: how wide it is, whether it likes colours, and that a failed write is noticed.
#pragma once

#include <string_view>

#include "measure/people.h"

namespace marrow::cli {

/// Width from the terminal, else COLUMNS, else 120; colours only on a terminal, and not when NO_COLOR is set.
[[nodiscard]] measure::Look stdout_look();

/// \throws util::Error when stdout does not take it (a full disk, a closed pipe).
void print(std::string_view text);

}  // namespace marrow::cli
