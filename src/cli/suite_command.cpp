// SPDX-License-Identifier: Apache-2.0
// marrow suite: every experiment of a catalogue, each in processes of its own, into one document.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include "cli/journal.h"
#include "cli/named_files.h"
#include "cli/output_file.h"
#include "cli/passes.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "measure/build_info.h"
#include "measure/csv.h"
#include "measure/people.h"
#include "measure/suite.h"
#include "measure/text_table.h"
#include "util/error.h"
#include "util/log.h"

namespace marrow::cli {
namespace {

std::string outcome_text(const std::vector<measure::Record>& records) {
  std::array<std::size_t, 3> n{};
  for (const auto& record : records) ++n.at(static_cast<std::size_t>(record.status));
  return fmt::format("{} passed, {} failed, {} waived", n[0], n[1], n[2]);
}

/// What must be the same for an interrupted suite to go on.
std::string settings_text(const SuiteOptions& options, const NicChoice& nic) {
  const auto build = measure::build_info();
  const auto& run = options.run;
  return fmt::format(
      "suite {}, nic {}, lane {}, engine {}, profile {}, runs {}, noise {}, iterations {}, warmup {}, timeout {}, "
      "samples {}, "
      "limit {}, "
      "commit {}{}",
      options.suite, nic.name, run.lane, run.engine.empty() ? "auto" : run.engine,
      run.profile.empty() ? "none" : run.profile, run.runs, run.noise ? fmt::format("{}", *run.noise) : "-",
      run.iterations ? std::to_string(*run.iterations) : "own", run.warmup, run.timeout_s, run.samples ? "kept" : "no",
      run.limit_s, build.commit.substr(0, 12), build.dirty ? " with changes" : "");
}

/// Beside a device there is no place for a journal.
void refuse_special(const std::string& file) {
  std::error_code unseen;
  if (!std::filesystem::exists(file, unseen) || std::filesystem::is_regular_file(file, unseen)) return;
  throw util::Error(fmt::format("a suite is written to a regular file, and {} is none", file), util::ErrorKind::kUsage,
                    "--json FILE");
}

class SuiteRun {
 public:
  SuiteRun(const Tool& tool, const SuiteOptions& options)
      : tool_(tool),
        options_(options),
        suite_(measure::suite_named(options.suite)),
        nic_(choose_nic(options.run.nic, tool.real_devices())),
        settings_(settings_for(tool, options.run, nic_)),
        progress_(suite_.entries.size(), ::isatty(STDERR_FILENO) == 1) {}

  int run() {
    const auto& file = options_.run.json;
    const auto partial = file + ".partial";
    refuse_shared_files({{"--json", file}, {"the journal", partial}, {"--csv", options_.run.csv}});
    refuse_unwritable(file);
    refuse_unwritable(options_.run.csv);
    refuse_special(file);
    Journal journal(partial, settings_text(options_, nic_), options_.fresh);
    if (!journal.entries().empty()) {
      util::log::warn("going on behind {} experiments that {} holds", journal.entries().size(), partial);
    }
    for (const auto& entry : suite_.entries) progress_.expect(cost(entry));
    for (const auto& entry : suite_.entries) {
      if (!one(entry, journal)) return interrupted(journal, partial);
    }
    return finish(journal);
  }

 private:
  [[nodiscard]] const experiments::Experiment* experiment_of(const measure::SuiteEntry& entry) const {
    const auto at = std::find_if(tool_.experiments.begin(), tool_.experiments.end(),
                                 [&](const auto& experiment) { return experiment.name == entry.id; });
    return at == tool_.experiments.end() ? nullptr : &*at;
  }

  [[nodiscard]] double cost(const measure::SuiteEntry& entry) const {
    return experiment_of(entry) == nullptr ? 0 : entry.seconds * options_.run.runs;
  }

  /// False when it was interrupted.
  bool one(const measure::SuiteEntry& entry, Journal& journal) {
    if (journal.find(entry.id) != nullptr) {
      progress_.skip(cost(entry));
      progress_.begin(entry.id, 0);
      progress_.end(outcome_text(journal.find(entry.id)->records) + ", from before");
      return true;
    }
    progress_.begin(entry.id, cost(entry));
    JournalEntry done{.experiment = entry.id};
    if (experiment_of(entry) == nullptr) {
      done.records = {absent(entry)};
    } else {
      auto outcome = measured(entry);
      if (outcome.interrupted) return false;
      done.records = std::move(outcome.records);
      done.path = std::move(outcome.path);
      done.libraries = std::move(outcome.libraries);
    }
    progress_.end(outcome_text(done.records));
    journal.add(std::move(done));
    return true;
  }

  [[nodiscard]] measure::Record absent(const measure::SuiteEntry& entry) const {
    measure::Record record{.experiment = entry.id, .path = "none", .lane = settings_.lane, .nic = nic_.name};
    record.status = measure::Status::kWaived;
    record.reason = entry.absent.empty() ? "this build of marrow has no such experiment"
                                         : fmt::format("{}; it would need {}", entry.absent, entry.would);
    return record;
  }

  RunOutcome measured(const measure::SuiteEntry& entry) {
    RunOptions options = options_.run;
    options.experiments = {entry.id};
    if (options.axes.empty()) options.axes = entry.axes;
    const auto tasks = select(tool_.experiments, options);
    auto settings = settings_;
    if (!settings.iterations) settings.iterations = entry.iterations;
    settings.on_start = [&](std::size_t row) { progress_.row(row, tasks.size()); };
    return run_passes(tasks, settings, nic_.name, passes_of(options));
  }

  int interrupted(const Journal& journal, const std::string& partial) const {
    throw util::Error(fmt::format("interrupted: {} of {} experiments are kept in {}", journal.entries().size(),
                                  suite_.entries.size(), partial),
                      util::ErrorKind::kFailed, "the same command goes on behind them");
  }

  int finish(const Journal& journal) const {
    measure::Document document{.environments = {measure::read_environment()}};
    auto& environment = document.environments.front();
    for (const auto& entry : journal.entries()) {
      document.records.insert(document.records.end(), entry.records.begin(), entry.records.end());
      if (!environment.path) environment.path = entry.path;
      if (!entry.libraries.empty()) environment.rdma_core = entry.libraries;
    }
    const auto raw = options_.run.samples ? measure::Raw::kWrite : measure::Raw::kLeaveOut;
    write_output(options_.run.json, measure::to_text(document, raw));
    if (!options_.run.csv.empty()) write_output(options_.run.csv, measure::to_csv(document));
    journal.remove();
    print(summary(document));
    return measure::exit_code_of(document);
  }

  [[nodiscard]] std::string summary(const measure::Document& document) const {
    const auto look = stdout_look();
    std::string text = measure::header_text(document.environments.front(), look) + "\n";
    for (const auto& record : document.records) {
      if (record.status != measure::Status::kFailed) continue;
      text += measure::wrapped(fmt::format("failed: {}: {}", measure::row_of(record), record.reason), " ", look.width);
    }
    text += shapes_text(document, look) + measure::verdict_text(document, look);
    return text + fmt::format("see it as a page: marrow report {} -o page.html\n", options_.run.json);
  }

  [[nodiscard]] std::string shapes_text(const measure::Document& document, measure::Look look) const {
    std::array<std::size_t, 3> n{};
    std::string text;
    for (const auto& entry : suite_.entries) {
      for (const auto& judged : measure::judge(entry, document)) {
        ++n.at(static_cast<std::size_t>(judged.agreement));
        if (judged.agreement == measure::Agreement::kCannotSay) continue;
        text += measure::wrapped(fmt::format("shape: {}: {}: {} ({})", entry.id, judged.shape.text,
                                             measure::name_of(judged.agreement), judged.told),
                                 " ", look.width);
      }
    }
    return text + fmt::format("shapes of the paper: {} agree, {} differ, {} cannot be said on this machine\n", n[0],
                              n[1], n[2]);
  }

  const Tool& tool_;
  const SuiteOptions& options_;
  measure::Suite suite_;
  NicChoice nic_;
  RunSettings settings_;
  Progress progress_;
};

}  // namespace

int suite_command(const Tool& tool, const SuiteOptions& options) {
  return SuiteRun(tool, options).run();
}

}  // namespace marrow::cli
