// SPDX-License-Identifier: Apache-2.0
// Runs tasks in child processes, so that a crash or a hang in one is that record's failure and nothing else's.
//
// A child runs task after task and sends each record through a pipe as soon as it is done. When it dies, the task it
// was at becomes a failed record and a new child goes on with the next. A task over its time limit is asked to stop and
// to hand over what it has; a second later it is killed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cli/select.h"
#include "measure/document.h"

namespace marrow::cli {

struct RunSettings {
  std::optional<std::uint32_t> iterations;  // none: each experiment's own
  std::uint32_t warmup = 0;
  double timeout_s = 60;
  bool samples = false;                            // records come with every sample, for pooling or for the document
  std::string lane = "host";                       // of rows that never reached a context
  const gpu::ClockKeeper* clock_keeper = nullptr;  // made before the runner; null: no row may lock a clock
  std::shared_ptr<const model::Profile> profile = {};  // for experiments that are computed
  /// In the child, before its first task: makes the NIC ready and fills the context's NIC fields.
  std::function<void(experiments::Context&)> prepare;
  /// In the parent, when a child begins a row of the tasks. May be empty.
  std::function<void(std::size_t row)> on_start = {};
};

struct RunOutcome {
  std::vector<measure::Record> records;     // one a task, in the tasks' order, whatever happened
  std::optional<measure::ActivePath> path;  // of the first row that had one
  std::string libraries;                    // RDMA libraries that a child had loaded
  bool interrupted = false;
};

/// \param nic  for records of tasks that never reached a context.
/// SIGINT and SIGTERM end the run with what was measured; rows that were not reached are waived and say so.
[[nodiscard]] RunOutcome run_tasks(const std::vector<Task>& tasks, const RunSettings& settings, const std::string& nic);

}  // namespace marrow::cli
