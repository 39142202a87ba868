// SPDX-License-Identifier: Apache-2.0
// The tool as a function: words in, exit code out. What it measures and which NICs there are is given to it, so that
// the tests run the same code with experiments that fail, crash and hang.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/lane.h"
#include "cli/nic.h"
#include "cli/options.h"
#include "experiments/experiment.h"
#include "gpu/device.h"

namespace marrow::cli {

struct Tool {
  std::vector<experiments::Experiment> experiments;
  std::function<std::vector<std::string>()> real_devices;
  std::function<void(const NicChoice&)> make_ready;
  OpenGpu open_gpu = gpu::open;
};

/// The whole tool. Prints results on stdout, everything else on stderr. Never throws.
/// \returns 0 passed, 1 failed, 2 usage, 77 nothing could run here; for `sim`, what the command ended with.
[[nodiscard]] int run_tool(const Tool& tool, const std::vector<std::string>& words);

// The commands. Each returns the exit code and throws util::Error for what ends it.
[[nodiscard]] int list_command(const Tool& tool, const ListOptions& options);
[[nodiscard]] int run_command(const Tool& tool, const RunOptions& options);
[[nodiscard]] int suite_command(const Tool& tool, const SuiteOptions& options);
[[nodiscard]] int compare_command(const CompareOptions& options);
[[nodiscard]] int merge_command(const MergeOptions& options);
[[nodiscard]] int report_command(const ReportOptions& options);
[[nodiscard]] int trace_command(const Tool& tool, const TraceOptions& options);
[[nodiscard]] int sim_command(const SimOptions& options);

}  // namespace marrow::cli
