// SPDX-License-Identifier: Apache-2.0
// marrow run: select, measure in children, print, write. The order matters: everything that can be refused is refused
// before the first measurement, and the table is out before the file is written.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "cli/lane.h"
#include "cli/runner.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "measure/document.h"
#include "measure/people.h"
#include "util/error.h"
#include "util/fd.h"
#include "util/log.h"

namespace marrow::cli {
namespace {

constexpr const char* kStdout = "-";

/// Without truncating: a file from an earlier run stays whole until there is something to replace it with.
void refuse_unwritable(const std::string& file) {
  if (file.empty() || file == kStdout) return;
  const util::UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!fd) {
    const auto problem = util::system_error("cannot write " + file, errno);
    throw util::Error(problem.what(), util::ErrorKind::kUsage, "--json - for stdout");
  }
}

measure::Document measure_all(const Tool& tool, const RunOptions& options, const std::vector<Task>& tasks,
                              const NicChoice& nic) {
  measure::Document document{.environment = measure::read_environment()};
  const auto lane = choose_lane(options.lane, options.engine, nic);
  RunSettings settings{.iterations = options.iterations, .warmup = options.warmup, .timeout_s = options.timeout_s};
  settings.lane = lane.gpu ? "gpu" : "host";
  settings.prepare = [&](experiments::Context& context) {
    set_engine(lane.engine);
    tool.make_ready(nic);
    describe(nic, context);
    describe(lane, tool.open_gpu, context);
  };
  auto outcome = run_tasks(tasks, settings, nic.name);
  document.records = std::move(outcome.records);
  document.environment.path = std::move(outcome.path);
  if (!outcome.libraries.empty()) document.environment.rdma_core = outcome.libraries;
  if (outcome.interrupted) util::log::warn("interrupted: what was measured until then follows");
  return document;
}

void print_table(const Tool& tool, const measure::Document& document) {
  const auto look = stdout_look();
  print(measure::header_text(document.environment, look) + "\n");
  for (const auto& experiment : tool.experiments) {
    std::vector<measure::Record> mine;
    std::copy_if(document.records.begin(), document.records.end(), std::back_inserter(mine),
                 [&](const measure::Record& record) { return record.experiment == experiment.name; });
    if (mine.empty()) continue;
    print(measure::experiment_text(mine, {experiment.name, experiment.title, experiment.question}, look) + "\n");
  }
  print(measure::verdict_text(document, look));
}

void write_file(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) throw util::system_error("cannot write " + file, errno);
  util::log::info("wrote {}", file);
}

}  // namespace

int run_command(const Tool& tool, const RunOptions& options) {
  const auto tasks = select(tool.experiments, options);
  const auto nic = choose_nic(options.nic, tool.real_devices());
  (void)choose_lane(options.lane, options.engine, nic);
  refuse_unwritable(options.json);
  const auto document = measure_all(tool, options, tasks, nic);
  const auto text = measure::to_text(document);
  if (options.json == kStdout) {
    print(text);
    return measure::exit_code_of(document);
  }
  print_table(tool, document);
  if (!options.json.empty()) write_file(options.json, text);
  return measure::exit_code_of(document);
}

}  // namespace marrow::cli
