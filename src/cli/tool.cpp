// SPDX-License-Identifier: Apache-2.0
// Dispatch, and the one place where errors become sentences and exit codes.
#include "cli/tool.h"

#include <cstdio>

#include "cli/terminal.h"
#include "util/error.h"

namespace marrow::cli {
namespace {

struct Dispatch {
  const Tool& tool;
  int operator()(const ListOptions& options) const { return list_command(tool, options); }
  int operator()(const RunOptions& options) const { return run_command(tool, options); }
  int operator()(const SuiteOptions& options) const { return suite_command(tool, options); }
  int operator()(const CompareOptions& options) const { return compare_command(options); }
  int operator()(const MergeOptions& options) const { return merge_command(options); }
  int operator()(const ReportOptions& options) const { return report_command(options); }
  int operator()(const TraceOptions& options) const { return trace_command(tool, options); }
  int operator()(const SimOptions& options) const { return sim_command(options); }
  int operator()(const PrintOptions& options) const {
    print(options.text);
    return 0;
  }
};

}  // namespace

int run_tool(const Tool& tool, const std::vector<std::string>& words) {
  try {
    return std::visit(Dispatch{tool}, parse(words));
  } catch (const util::Error& problem) {
    std::fprintf(stderr, "%s\n", util::describe(problem).c_str());
    return problem.exit_code();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "error: %s\n", problem.what());
    return static_cast<int>(util::ErrorKind::kFailed);
  }
}

}  // namespace marrow::cli
