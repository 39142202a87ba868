// SPDX-License-Identifier: Apache-2.0
// The parser: CLI11 underneath, our own sentences and pages above it.
#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "cli/closest.h"
#include "cli/help.h"
#include "cli/words.h"
#include "util/error.h"

namespace marrow::cli {
namespace {

using util::Error;
using util::ErrorKind;

const std::array<std::string, 4> kCommands{"list", "run", "trace", "sim"};

[[noreturn]] void usage(const std::string& sentence, const std::string& hint) {
  throw Error(sentence, ErrorKind::kUsage, hint);
}

/// CLI11's message in our manner: first letter small, one line, no full stop.
std::string sentence_of(const CLI::ParseError& problem) {
  std::string text = problem.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1]))) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Lets `fill` declare the options, parses, and turns every complaint into one of ours.
template <typename Fill>
void parse_with(const std::string& command, std::vector<std::string> words, Fill&& fill) {
  CLI::App app("", "marrow " + command);
  app.set_help_flag("");
  fill(app);
  const auto hint = "marrow " + command + " --help";
  for (const auto& word : words) {
    if (word == "--") break;
    const auto name = word.substr(0, word.find('='));
    const auto names = option_names(app);
    const bool known = std::find(names.begin(), names.end(), name) != names.end();
    if (word.starts_with("--") && !known) {
      usage(fmt::format("{} has no option '{}'{}", command, name, closest_text(name, names)), hint);
    }
  }
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ParseError& problem) {
    usage(sentence_of(problem), hint);
  }
}

std::string not_nan(const std::string& text) {
  return std::isnan(std::strtod(text.c_str(), nullptr)) ? "'" + text + "' is no number of seconds" : std::string();
}

void declare_run(CLI::App& app, RunOptions& run) {
  app.add_option("EXPERIMENT", run.experiments);
  app.add_option("--nic", run.nic)->envname("MARROW_NIC");
  app.add_option("--lane", run.lane)->envname("MARROW_LANE");
  app.add_option("--engine", run.engine)->envname("MARROW_ENGINE");
  app.add_option("--policy", run.policies)->expected(1)->take_all()->envname("MARROW_POLICY");
  app.add_option("--axis", run.axes)->expected(1)->take_all();
  app.add_option("--iterations", run.iterations)->check(CLI::Range(1U, 100'000'000U))->envname("MARROW_ITERATIONS");
  app.add_option("--warmup", run.warmup)->check(CLI::Range(0U, 100'000'000U))->envname("MARROW_WARMUP");
  app.add_option("--timeout", run.timeout_s)
      ->check(CLI::Range(0.001, 86'400.0))
      ->check(not_nan)  // which compares with no bound
      ->envname("MARROW_TIMEOUT");
  app.add_option("--json", run.json)->envname("MARROW_JSON");
}

Command parse_list(const std::vector<std::string>& words) {
  ListOptions list;
  parse_with("list", words, [&](CLI::App& app) { app.add_option("PATTERN", list.pattern); });
  return list;
}

Command parse_run(const std::vector<std::string>& words) {
  RunOptions run;
  parse_with("run", words, [&](CLI::App& app) { declare_run(app, run); });
  std::vector<std::string> policies;
  for (const auto& names : run.policies) {
    for (auto& name : split_at_commas(names)) policies.push_back(std::move(name));
  }
  run.policies = std::move(policies);
  if (run.experiments.empty()) usage("run needs the name of an experiment, or all", "marrow list");
  return run;
}

Command parse_trace(const std::vector<std::string>& words) {
  TraceOptions trace;
  parse_with("trace", words, [&](CLI::App& app) {
    app.add_option("EXPERIMENT", trace.run.experiments);
    app.add_option("--policy", trace.run.policies)->expected(1);
    app.add_option("--nic", trace.run.nic);
  });
  if (trace.run.experiments.size() != 1) usage("trace needs the name of one experiment", "marrow list");
  return trace;
}

/// Everything after the first "--" is the command, whatever it looks like.
Command parse_sim(const std::vector<std::string>& words) {
  SimOptions sim;
  const auto mark = std::find(words.begin(), words.end(), "--");
  const std::vector<std::string> ours(words.begin(), mark);
  std::vector<std::string> loose;
  parse_with("sim", ours, [&](CLI::App& app) {
    app.add_option("--link", sim.link)->check(CLI::IsMember({"ib", "roce"}));
    app.add_option("--engine", sim.engine);
    app.add_option("--udp", sim.udp);
    app.add_flag("--lenient", sim.lenient);
    app.add_option("COMMAND", loose);
  });
  if (!loose.empty()) {
    usage(fmt::format("the command '{}' must stand after --", loose.front()),
          fmt::format("marrow sim -- {}", fmt::join(loose, " ")));
  }
  if (mark != words.end()) sim.command.assign(mark + 1, words.end());
  if (sim.command.empty()) usage("sim needs a command to run", "marrow sim -- ibv_devinfo");
  return sim;
}

bool asks_for_help(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::any_of(words.begin(), end, [](const std::string& word) { return word == "--help" || word == "-h"; });
}

}  // namespace

Command parse(const std::vector<std::string>& words) {
  if (words.empty()) usage("no command was given", "marrow --help");
  const auto& command = words.front();
  if (command == "--version") return PrintOptions{version_text()};
  if (command == "--help" || command == "-h" || command == "help") return PrintOptions{std::string(help_text(""))};
  const bool known = std::find(kCommands.begin(), kCommands.end(), command) != kCommands.end();
  if (!known) usage(fmt::format("no command '{}'{}", command, closest_text(command, kCommands)), "marrow --help");
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (asks_for_help(rest)) return PrintOptions{std::string(help_text(command))};
  if (command == "list") return parse_list(rest);
  if (command == "run") return parse_run(rest);
  if (command == "trace") return parse_trace(rest);
  return parse_sim(rest);
}

}  // namespace marrow::cli
