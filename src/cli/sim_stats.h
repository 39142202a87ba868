// SPDX-License-Identifier: Apache-2.0
// What `marrow sim --stats` says at the end: counters of each device, what strict mode found, what was refused, by
// name.
#pragma once

#include <string>

#include "cli/sim_board.h"

namespace marrow::cli {

/// For a person; what is zero is left out.
[[nodiscard]] std::string stats_text(const SimBoard& board);
/// The same and each process's own, as JSON: schema marrow.sim-stats/1.
[[nodiscard]] std::string stats_json(const SimBoard& board);

}  // namespace marrow::cli
