// SPDX-License-Identifier: Apache-2.0
// See list_details.h.
#include "cli/list_details.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/select.h"
#include "measure/paper.h"
#include "measure/people.h"
#include "measure/text_table.h"

namespace marrow::cli {
namespace {

using experiments::Experiment;

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

/// "  question  What does ..."
std::string line(const std::string& title, const std::string& text, std::size_t width) {
  return fmt::format("  {:<10}{}", title, measure::wrapped(text, "            ", width).substr(12));
}

/// What the paper did and printed.
std::string paper_text(const measure::SuiteEntry& entry, std::size_t width) {
  std::string text;
  if (!entry.setup.empty()) text += line("set-up", "of the paper: " + entry.setup, width);
  for (const auto& printed : measure::printed_values(entry.id)) {
    const auto& value = printed.value;
    auto number = measure::number_text(value.value);
    if (value.to) number += "-" + measure::number_text(*value.to);
    text += line("paper",
                 fmt::format("{}: {}: {} {} on {} ({})", printed.row, printed.metric, number, value.unit,
                             value.platform, value.source.substr(value.source.find(' ') + 1)),
                 width);
  }
  for (const auto& shape : entry.shapes) text += line("shape", fmt::format("{}: {}", shape.text, shape.expect), width);
  return text;
}

std::string lanes_text(const Experiment& experiment, const measure::SuiteEntry* entry) {
  const bool host = entry == nullptr || !entry->gpu_only;
  if (experiment.modelled) return "none: it is computed";
  if (experiment.run_on_gpu) return host ? "host, gpu" : "gpu";
  return host ? "host" : "gpu, which this build does not have";
}

}  // namespace

std::string details(const Experiment& experiment, const measure::SuiteEntry* entry, std::size_t width) {
  std::string text = experiment.name + ": " + experiment.title + "\n";
  text += line("question", experiment.question, width);
  text += line("needs", experiment.needs, width);
  text += line("lanes", lanes_text(experiment, entry), width);
  text += line("policies", fmt::format("{}", fmt::join(policy_names(experiment), ", ")), width);
  for (const auto& axis : variant_axis_texts(experiment)) text += line("axis", axis, width);
  for (const auto& sweep : experiment.sweeps) text += line("axis", sweep_text(sweep), width);
  text += line("default",
               fmt::format("{} {} a row", experiment.iterations,
                           experiment.modelled ? "passes of the model" : "timed operations"),
               width);
  return entry == nullptr ? text : text + paper_text(*entry, width);
}

std::string details(const measure::SuiteEntry& entry, std::size_t width) {
  auto text = entry.id + ": Marrow does not have it\n" + line("question", entry.question, width);
  text += line("waived", fmt::format("{}; it would need {}", entry.absent, entry.would), width);
  return text + paper_text(entry, width);
}

}  // namespace marrow::cli
