// SPDX-License-Identifier: Apache-2.0
// marrow run: select, measure in children, print, write. The order matters: everything that can be refused is refused
// before the first measurement, and the table is out before the file is written.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>

#include "cli/lane.h"
#include "cli/named_files.h"
#include "cli/output_file.h"
#include "cli/passes.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "cli/thresholds.h"
#include "cli/tool.h"
#include "gpu/clock_keeper.h"
#include "measure/csv.h"
#include "measure/document.h"
#include "measure/people.h"
#include "util/error.h"
#include "util/log.h"

namespace marrow::cli {
namespace {

struct MeasuredRun {
  measure::Document document;
  bool interrupted = false;
};

MeasuredRun measure_all(const Tool& tool, const RunOptions& options, const std::vector<Task>& tasks,
                        const NicChoice& nic) {
  MeasuredRun run{.document = {.environments = {measure::read_environment()}}};
  auto& document = run.document;
  auto& environment = document.environments.front();
  std::optional<gpu::ClockKeeper> keeper;
  auto settings = settings_for(tool, options, nic);
  if (options.lock_clocks) settings.clock_keeper = &keeper.emplace();
  auto outcome = run_passes(tasks, settings, nic.name, passes_of(options));
  if (keeper && !keeper->finish()) util::log::warn("not every SM clock was given back");
  document.records = std::move(outcome.records);
  environment.path = std::move(outcome.path);
  if (!outcome.libraries.empty()) environment.rdma_core = outcome.libraries;
  if (outcome.interrupted) util::log::warn("interrupted: what was measured until then follows");
  run.interrupted = outcome.interrupted;
  return run;
}

/// An interrupted run never replaces a file: what is there may be complete.
std::string place_for(const std::string& file, bool interrupted) {
  std::error_code unseen;
  if (!interrupted || file == kStdout || !std::filesystem::is_regular_file(file, unseen)) return file;
  const auto place = file + ".interrupted";
  util::log::warn("{} stays as it was: this interrupted run goes to {}", file, place);
  return place;
}

void print_table(const Tool& tool, const measure::Document& document) {
  const auto look = stdout_look();
  print(measure::header_text(document.environments.front(), look) + "\n");
  for (const auto& experiment : tool.experiments) {
    std::vector<measure::Record> mine;
    std::copy_if(document.records.begin(), document.records.end(), std::back_inserter(mine),
                 [&](const measure::Record& record) { return record.experiment == experiment.name; });
    if (mine.empty()) continue;
    print(measure::experiment_text(mine, {experiment.name, experiment.title, experiment.question}, look) + "\n");
  }
  print(measure::verdict_text(document, look));
}

/// A threshold on an experiment that will not be run is refused before the others are measured.
void refuse_unselected(const std::vector<measure::Statement>& statements, const std::vector<Task>& tasks) {
  std::vector<std::string> names;
  for (const auto& task : tasks) names.push_back(task.experiment->name);
  for (const auto& statement : statements) {
    for (const auto& term : {std::optional<measure::Term>(statement.left), statement.right}) {
      if (!term || std::find(names.begin(), names.end(), term->experiment) != names.end()) continue;
      throw util::Error(
          fmt::format("the threshold '{}' is on {}, which this run does not measure", statement.text, term->experiment),
          util::ErrorKind::kUsage, fmt::format("marrow run {} ...", term->experiment));
    }
  }
}

/// Before anything is measured: a lock changes the GPU for everybody, so it is never a side effect.
void refuse_needless_lock(const RunOptions& options, const std::vector<Task>& tasks) {
  if (!options.lock_clocks) return;
  const auto locks = [](const Task& task) { return task.experiment->locks_clocks; };
  constexpr const char* kHint = "marrow run sm-clock --lane gpu --lock-clocks";
  if (std::none_of(tasks.begin(), tasks.end(), locks))
    throw util::Error("--lock-clocks is for what locks the SM clock, and nothing here does", util::ErrorKind::kUsage,
                      kHint);
  if (options.lane == "host")
    throw util::Error("--lock-clocks locks the clock of the lanes' GPU, and these lanes are CPU threads",
                      util::ErrorKind::kUsage, kHint);
}

/// A profile changes nothing of what is measured; who names one for it expects something else.
void refuse_unused_profile(const std::vector<Task>& tasks, const RunOptions& options) {
  if (options.profile.empty()) return;
  for (const auto& task : tasks) {
    const auto& name = task.experiment->name;
    const bool named =
        std::find(options.experiments.begin(), options.experiments.end(), name) != options.experiments.end();
    if (task.experiment->modelled || !named) continue;
    throw util::Error(
        fmt::format("{} is measured, not computed from a profile: a profile paces neither the software NIC "
                    "nor a real one",
                    name),
        util::ErrorKind::kUsage, fmt::format("marrow run {} without --profile", name));
  }
}

/// To stdout, or to stderr where stdout holds a document.
void tell(const std::string& text, const RunOptions& options) {
  if (options.json == kStdout || options.csv == kStdout) {
    std::fputs(text.c_str(), stderr);
  } else {
    print(text);
  }
}

}  // namespace

int run_command(const Tool& tool, const RunOptions& options) {
  const auto tasks = select(tool.experiments, options);
  const auto nic = choose_nic(options.nic, tool.real_devices());
  (void)choose_lane(options.lane, options.engine, nic);
  refuse_unused_profile(tasks, options);
  const auto statements = statements_of(options.expects, {});
  refuse_unselected(statements, tasks);
  refuse_needless_lock(options, tasks);
  refuse_shared_files({{"--json", options.json}, {"--csv", options.csv}});
  refuse_unwritable(options.json);
  refuse_unwritable(options.csv);
  const auto measured = measure_all(tool, options, tasks, nic);
  const auto& document = measured.document;
  if (options.json != kStdout && options.csv != kStdout) print_table(tool, document);
  if (!options.json.empty()) {
    const auto raw = options.samples ? measure::Raw::kWrite : measure::Raw::kLeaveOut;
    write_output(place_for(options.json, measured.interrupted), measure::to_text(document, raw));
  }
  if (!options.csv.empty()) write_output(place_for(options.csv, measured.interrupted), measure::to_csv(document));
  const auto answers = answers_of(statements, document);
  if (!answers.empty()) tell(answers_text(answers, stdout_look()), options);
  const int code = measure::exit_code_of(document);
  return code == 0 && !all_held(answers) ? static_cast<int>(util::ErrorKind::kFailed) : code;
}

}  // namespace marrow::cli
