// SPDX-License-Identifier: Apache-2.0
// The tool's side of the board (cx7/shim/board.h): memory that the processes of `marrow sim`'s command count and record
// in, and the command itself, run as a child so that somebody is there at its end, however it ends.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cx7/shim/board.h"
#include "util/fd.h"

namespace marrow::cli {

class SimBoard {
 public:
  /// Makes it and names it to the processes that are started from now on. `trace_events`: of each process; a power of
  /// two, 0: none. \throws util::Error.
  explicit SimBoard(std::uint32_t trace_events);
  ~SimBoard();
  SimBoard(const SimBoard&) = delete;
  SimBoard& operator=(const SimBoard&) = delete;

  /// The processes that came and found a place.
  [[nodiscard]] std::vector<const cx7::BoardProcess*> processes() const;
  /// Those that found none.
  [[nodiscard]] std::size_t left_out() const;
  [[nodiscard]] const char* device_name(std::size_t device) const { return board_->device.at(device).data(); }
  /// What is kept of a process's events, oldest first.
  [[nodiscard]] std::vector<cx7::TraceEvent> events(const cx7::BoardProcess& process) const;

 private:
  util::UniqueFd fd_;
  cx7::Board* board_;
};

/// How the command ended, as waitpid() says it.
/// \throws std::system_error when it could not be started.
[[nodiscard]] int run_to_its_end(const std::vector<std::string>& command);
/// Ends this process as the command ended: its exit code is returned, its signal is taken too.
[[nodiscard]] int end_like(int wait_status);

}  // namespace marrow::cli
