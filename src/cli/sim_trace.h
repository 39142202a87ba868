// SPDX-License-Identifier: Apache-2.0
// What `marrow sim --trace` writes: the events that the command's processes recorded, as JSON in Chrome's trace event
// format, which Perfetto reads. Written by the tool alone and at the end, so it is whole whatever became of the
// processes.
#pragma once

#include <cstdint>
#include <string>

#include "cli/sim_board.h"

namespace marrow::cli {

/// Kept of each process, the newest; 40 bytes each, and some 150 as JSON.
inline constexpr std::uint32_t kTraceEvents = 1u << 16;

[[nodiscard]] std::string trace_json(const SimBoard& board);

}  // namespace marrow::cli
