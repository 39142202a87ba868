// SPDX-License-Identifier: Apache-2.0
// The parser of each command.
#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/closest.h"
#include "cli/help.h"
#include "cli/options_of_documents.h"
#include "cli/parse_with.h"
#include "cli/words.h"

namespace marrow::cli {
namespace {

const std::array<std::string, 8> kCommands{"list", "run", "suite", "compare", "merge", "report", "trace", "sim"};

/// What `run` and `suite` share.
void declare_measuring(CLI::App& app, RunOptions& run) {
  app.add_option("--nic", run.nic)->envname("MARROW_NIC");
  app.add_option("--lane", run.lane)->envname("MARROW_LANE");
  app.add_option("--engine", run.engine)->envname("MARROW_ENGINE");
  app.add_option("--profile", run.profile)->envname("MARROW_PROFILE");
  app.add_option("--iterations", run.iterations)->check(whole(1, 100'000'000))->envname("MARROW_ITERATIONS");
  app.add_option("--warmup", run.warmup)->check(whole(0, 100'000'000))->envname("MARROW_WARMUP");
  app.add_option("--timeout", run.timeout_s)->check(real(0.001, 86'400))->envname("MARROW_TIMEOUT");
  app.add_option("--runs", run.runs)->check(whole(1, 100))->envname("MARROW_RUNS");
  app.add_option("--noise", run.noise)->check(real(0.01, 100))->envname("MARROW_NOISE");
  app.add_option("--limit", run.limit_s)->check(real(0.001, 864'000))->envname("MARROW_LIMIT");
  app.add_flag("--samples", run.samples);
  app.add_option("--csv", run.csv)->envname("MARROW_CSV");
  app.add_option("--json", run.json)->envname("MARROW_JSON");
}

void declare_run(CLI::App& app, RunOptions& run) {
  app.add_option("EXPERIMENT", run.experiments);
  app.add_option("--policy", run.policies)->expected(1)->take_all()->envname("MARROW_POLICY");
  app.add_option("--axis", run.axes)->expected(1)->take_all();
  app.add_option("--expect", run.expects)->expected(1)->take_all();
  app.add_flag("--lock-clocks", run.lock_clocks);
  declare_measuring(app, run);
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
  if (run.json == "-" && run.csv == "-")
    refuse_usage("--json and --csv cannot both be stdout", "a file for one of them");
  if (run.experiments.empty()) refuse_usage("run needs the name of an experiment, or all", "marrow list");
  return run;
}

Command parse_suite(const std::vector<std::string>& words) {
  SuiteOptions suite;
  std::vector<std::string> names;
  suite.run.json = "marrow-suite.json";
  parse_with("suite", words, [&](CLI::App& app) {
    app.add_option("NAME", names);
    app.add_flag("--fresh", suite.fresh);
    declare_measuring(app, suite.run);
  });
  if (names.size() != 1) refuse_usage("suite needs the name of one suite", "marrow suite paper");
  if (suite.run.json == "-")
    refuse_usage("a suite is written to a file, beside which it keeps what is done", "--json FILE");
  suite.suite = names.front();
  return suite;
}

Command parse_trace(const std::vector<std::string>& words) {
  TraceOptions trace;
  parse_with("trace", words, [&](CLI::App& app) {
    app.add_option("EXPERIMENT", trace.run.experiments);
    app.add_option("--policy", trace.run.policies)->expected(1);
    app.add_option("--nic", trace.run.nic);
  });
  if (trace.run.experiments.size() != 1) refuse_usage("trace needs the name of one experiment", "marrow list");
  return trace;
}

/// Everything after the first "--" is the command, whatever it looks like.
Command parse_sim(const std::vector<std::string>& words) {
  SimOptions sim;
  const auto mark = std::find(words.begin(), words.end(), "--");
  const std::vector<std::string> ours(words.begin(), mark);
  std::vector<std::string> loose;
  parse_with("sim", ours, [&](CLI::App& app) {
    app.add_option("--link", sim.link)->check(one_of({"ib", "roce"}));
    app.add_option("--engine", sim.engine);
    app.add_option("--udp", sim.udp);
    app.add_option("--pcap", sim.pcap);
    app.add_option("--faults", sim.faults);
    app.add_flag("--lenient", sim.lenient);
    app.add_flag("--stats{-}", sim.stats);
    app.add_option("--trace", sim.trace);
    app.add_option("COMMAND", loose);
  });
  if (!loose.empty()) {
    refuse_usage(fmt::format("the command '{}' must stand after --", loose.front()),
                 fmt::format("marrow sim -- {}", fmt::join(loose, " ")));
  }
  if (mark != words.end()) sim.command.assign(mark + 1, words.end());
  if (sim.command.empty()) refuse_usage("sim needs a command to run", "marrow sim -- ibv_devinfo");
  return sim;
}

bool asks_for_help(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::any_of(words.begin(), end, [](const std::string& word) { return word == "--help" || word == "-h"; });
}

}  // namespace

Command parse(const std::vector<std::string>& words) {
  if (words.empty()) refuse_usage("no command was given", "marrow --help");
  const auto& command = words.front();
  if (command == "--version") return PrintOptions{version_text()};
  if (command == "--help" || command == "-h" || command == "help") return PrintOptions{std::string(help_text(""))};
  const bool known = std::find(kCommands.begin(), kCommands.end(), command) != kCommands.end();
  if (!known)
    refuse_usage(fmt::format("no command '{}'{}", command, closest_text(command, kCommands)), "marrow --help");
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (asks_for_help(rest)) return PrintOptions{std::string(help_text(command))};
  if (command == "list") return parse_list(rest);
  if (command == "run") return parse_run(rest);
  if (command == "suite") return parse_suite(rest);
  if (command == "compare") return parse_compare(rest);
  if (command == "merge") return parse_merge(rest);
  if (command == "report") return parse_report(rest);
  if (command == "trace") return parse_trace(rest);
  return parse_sim(rest);
}

}  // namespace marrow::cli
