// SPDX-License-Identifier: Apache-2.0
// marrow list: what can be run. With a pattern, also each experiment's policies, axes and needs.
#include <fmt/format.h>

#include <algorithm>

#include "cli/closest.h"
#include "cli/list_details.h"
#include "cli/select.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "measure/suite.h"
#include "measure/text_table.h"
#include "util/error.h"

namespace marrow::cli {
namespace {

using experiments::Experiment;

bool contains_without_case(const std::string& text, const std::string& pattern) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), pattern.begin(), pattern.end(), same) != text.end();
}

bool matches(const measure::SuiteEntry& entry, const std::string& pattern) {
  return contains_without_case(entry.id, pattern) || contains_without_case(entry.question, pattern);
}

bool matches(const Experiment& experiment, const std::string& pattern) {
  return contains_without_case(experiment.name, pattern) || contains_without_case(experiment.title, pattern) ||
         contains_without_case(experiment.question, pattern);
}

/// Why there are no gpu lanes here; empty where there are.
std::string why_no_gpu(const Tool& tool) {
  try {
    (void)tool.open_gpu(0);
    return {};
  } catch (const util::Error& problem) {
    return problem.hint().empty() ? std::string(problem.what()) : problem.what() + ("; try " + problem.hint());
  }
}

/// What of it runs on this machine.
std::string here_text(const Experiment& experiment, const measure::SuiteEntry* entry, bool has_gpu) {
  if (experiment.modelled) return "computed, with --profile NAME";
  const bool host = entry == nullptr || !entry->gpu_only;
  const bool gpu = experiment.run_on_gpu != nullptr && has_gpu;
  if (experiment.locks_clocks) {
    return gpu ? "waived here until it may lock the SM clock: --lane gpu --lock-clocks, as root"
               : "waived here: it locks a GPU's SM clock, and there is no gpu lane";
  }
  if (host) return gpu ? "runs here on host and gpu lanes" : "runs here on host lanes";
  return gpu ? "runs here on gpu lanes" : "waived here: it needs gpu lanes";
}

std::string overview(const Tool& tool, const measure::Suite& suite, bool has_gpu, std::size_t width) {
  std::size_t column = 0;
  for (const auto& e : tool.experiments) column = std::max(column, e.name.size() + 2);
  std::string text;
  for (const auto& e : tool.experiments) {
    const auto count = policy_names(e).size();
    text += fmt::format("  {:<{}}{}; {} polic{}; {}\n", e.name, column, e.title, count, count == 1 ? "y" : "ies",
                        here_text(e, measure::entry_of(suite, e.name), has_gpu));
    text += measure::wrapped(e.question, std::string(column + 2, ' '), width);
  }
  return text;
}

/// The paper's experiments that Marrow does not have.
std::vector<const measure::SuiteEntry*> absent_of(const Tool& tool, const measure::Suite& suite) {
  std::vector<const measure::SuiteEntry*> list;
  for (const auto& entry : suite.entries) {
    const bool there = std::any_of(tool.experiments.begin(), tool.experiments.end(),
                                   [&](const Experiment& e) { return e.name == entry.id; });
    if (!there && !entry.absent.empty()) list.push_back(&entry);
  }
  return list;
}

std::string absent_text(const Tool& tool, const measure::Suite& suite, std::size_t width) {
  std::string text;
  for (const auto* entry : absent_of(tool, suite)) {
    const auto line = fmt::format("{}: {}; it would need {}", entry->id, entry->absent, entry->would);
    text += "  " + measure::wrapped(line, "    ", width).substr(4);
  }
  return text.empty() ? text : "waived everywhere, since Marrow does not have them:\n" + text + "\n";
}

std::string hints(const Tool& tool, const std::string& no_gpu, std::size_t width) {
  std::vector<std::string> nics{kSoftwareNic};
  for (const auto& device : tool.real_devices()) nics.push_back(device);
  const auto lanes = no_gpu.empty() ? std::string("host, gpu") : "host; gpu is waived here: " + no_gpu;
  return measure::wrapped("policies, axes and needs of one: marrow list NAME; measure it: marrow run NAME", "  ",
                          width) +
         measure::wrapped("lanes, for --lane: " + lanes, "  ", width) +
         measure::wrapped(fmt::format("NICs here, for --nic: {}", fmt::join(nics, ", ")), "  ", width);
}

}  // namespace

int list_command(const Tool& tool, const ListOptions& options) {
  const auto width = stdout_look().width;
  const auto suite = measure::suite_named("paper");
  if (options.pattern.empty()) {
    const auto no_gpu = why_no_gpu(tool);
    print(overview(tool, suite, no_gpu.empty(), width) + "\n" + absent_text(tool, suite, width) +
          hints(tool, no_gpu, width));
    return 0;
  }
  std::string text;
  for (const auto& experiment : tool.experiments) {
    if (!matches(experiment, options.pattern)) continue;
    text += (text.empty() ? "" : "\n") + details(experiment, measure::entry_of(suite, experiment.name), width);
  }
  for (const auto* entry : absent_of(tool, suite)) {
    if (matches(*entry, options.pattern)) text += (text.empty() ? "" : "\n") + details(*entry, width);
  }
  if (text.empty()) {
    std::vector<std::string> names;
    for (const auto& experiment : tool.experiments) names.push_back(experiment.name);
    for (const auto* entry : absent_of(tool, suite)) names.push_back(entry->id);
    throw util::Error(
        fmt::format("no experiment matches '{}'{}", options.pattern, closest_text(options.pattern, names)),
        util::ErrorKind::kUsage, "marrow list");
  }
  print(text);
  return 0;
}

}  // namespace marrow::cli
