// SPDX-License-Identifier: Apache-2.0
// The child's side of runner.h and the lines that it sends: one JSON object a line.
//   {"start": i}  {"path": {...}}  {"libraries": "..."}  {"record": {...}, "index": i}
#pragma once

#include <cstddef>
#include <vector>

#include "cli/runner.h"

namespace marrow::cli {

/// Runs tasks[first...] and writes lines to `out`. Stops early when it gets SIGINT or SIGTERM. Never returns.
[[noreturn]] void child_main(const std::vector<Task>& tasks, std::size_t first, const RunSettings& settings, int out);

}  // namespace marrow::cli
