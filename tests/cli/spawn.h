// SPDX-License-Identifier: Apache-2.0
// Runs a program and keeps what it said, as a shell's user would see it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace marrow::cli {

struct Ended {
  int code = -1;  // exit status, or 128 + signal
  std::string out;
  std::string err;
};

/// \param interrupt_after  sends SIGINT to the program's process group after this long.
Ended spawn(const std::vector<std::string>& words, std::optional<std::chrono::milliseconds> interrupt_after = {});

}  // namespace marrow::cli
