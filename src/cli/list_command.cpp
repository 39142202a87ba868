// SPDX-License-Identifier: Apache-2.0
// marrow list: what can be run. With a pattern, also each experiment's policies, axes and needs.
#include <fmt/format.h>

#include <algorithm>

#include "cli/closest.h"
#include "cli/select.h"
#include "cli/terminal.h"
#include "cli/tool.h"
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

bool matches(const Experiment& experiment, const std::string& pattern) {
  return contains_without_case(experiment.name, pattern) || contains_without_case(experiment.title, pattern) ||
         contains_without_case(experiment.question, pattern);
}

/// "bytes: payload of one put (8, 16, 32; any multiple of 4 within 8 and 220)"
std::string sweep_text(const experiments::Sweep& sweep) {
  return fmt::format("{}: {} ({}; any multiple of {} within {} and {})", sweep.name, sweep.meaning,
                     fmt::join(sweep.values, ", "), sweep.step, sweep.min, sweep.max);
}

std::vector<std::string> variant_axis_texts(const Experiment& experiment) {
  std::vector<std::string> texts;
  for (const auto& name : axis_names(experiment)) {
    std::vector<std::string> values;
    for (const auto& variant : experiment.variants) {
      for (const auto& axis : variant.axes) {
        if (axis.name != name) continue;
        const auto value = measure::text_of(axis).substr(name.size() + 1);
        if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
      }
    }
    if (!values.empty()) texts.push_back(fmt::format("{}: {}", name, fmt::join(values, ", ")));
  }
  return texts;
}

std::string details(const Experiment& experiment, std::size_t width) {
  const auto line = [&](const std::string& title, const std::string& text) {
    return fmt::format("  {:<10}{}", title, measure::wrapped(text, "            ", width).substr(12));
  };
  std::string text = experiment.name + ": " + experiment.title + "\n";
  text += line("question", experiment.question);
  text += line("needs", experiment.needs);
  text += line("lanes", experiment.run_on_gpu ? "host, gpu" : "host");
  text += line("policies", fmt::format("{}", fmt::join(policy_names(experiment), ", ")));
  for (const auto& axis : variant_axis_texts(experiment)) text += line("axis", axis);
  for (const auto& sweep : experiment.sweeps) text += line("axis", sweep_text(sweep));
  return text + line("default", fmt::format("{} timed operations a row", experiment.iterations));
}

std::string overview(const std::vector<Experiment>& experiments, std::size_t width) {
  std::size_t column = 0;
  for (const auto& e : experiments) column = std::max(column, e.name.size() + 2);
  std::string text;
  for (const auto& e : experiments) {
    const auto count = policy_names(e).size();
    text += fmt::format("  {:<{}}{}; {} polic{}\n", e.name, column, e.title, count, count == 1 ? "y" : "ies");
    text += measure::wrapped(e.question, std::string(column + 2, ' '), width);
  }
  return text;
}

std::string hints(const Tool& tool, std::size_t width) {
  std::vector<std::string> nics{kSoftwareNic};
  for (const auto& device : tool.real_devices()) nics.push_back(device);
  const auto lanes = gpu::kBuilt ? std::string("host; gpu where there is one of sm_90 or newer")
                                 : fmt::format("host; {}", gpu::kNotBuilt);
  return measure::wrapped("policies, axes and needs of one: marrow list NAME; measure it: marrow run NAME", "  ",
                          width) +
         measure::wrapped("lanes, for --lane: " + lanes, "  ", width) +
         measure::wrapped(fmt::format("NICs here, for --nic: {}", fmt::join(nics, ", ")), "  ", width);
}

}  // namespace

int list_command(const Tool& tool, const ListOptions& options) {
  const auto width = stdout_look().width;
  if (options.pattern.empty()) {
    print(overview(tool.experiments, width) + "\n" + hints(tool, width));
    return 0;
  }
  std::string text;
  for (const auto& experiment : tool.experiments) {
    if (matches(experiment, options.pattern)) text += (text.empty() ? "" : "\n") + details(experiment, width);
  }
  if (text.empty()) {
    std::vector<std::string> names;
    for (const auto& experiment : tool.experiments) names.push_back(experiment.name);
    throw util::Error(
        fmt::format("no experiment matches '{}'{}", options.pattern, closest_text(options.pattern, names)),
        util::ErrorKind::kUsage, "marrow list");
  }
  print(text);
  return 0;
}

}  // namespace marrow::cli
