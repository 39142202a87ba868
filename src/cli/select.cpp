// SPDX-License-Identifier: Apache-2.0
// Selection. A policy picks variants; an axis of a variant filters, an axis that is swept is replaced.
#include "cli/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/closest.h"
#include "cli/words.h"
#include "util/error.h"

namespace marrow::cli {
namespace {

using experiments::Experiment;
using experiments::Point;
using experiments::Sweep;
using experiments::Variant;

[[noreturn]] void usage(const std::string& sentence, const std::string& hint) {
  throw util::Error(sentence, util::ErrorKind::kUsage, hint);
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string list_hint(const Experiment& experiment) {
  return "marrow list " + experiment.name;
}

struct AxisChoice {
  std::string name;
  std::vector<std::string> values;
};

AxisChoice split_axis(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    usage(fmt::format("'{}' is not of the form NAME=VALUES", text), "--axis bytes=8,64");
  }
  return {.name = text.substr(0, equals), .values = split_at_commas(std::string_view(text).substr(equals + 1))};
}

std::string value_text(const measure::Axis& axis) {
  const auto text = measure::text_of(axis);
  return text.substr(axis.name.size() + 1);
}

/// The values that the variants have for this axis; empty when it is no axis of a variant.
std::vector<std::string> variant_values(const std::vector<Variant>& variants, const std::string& name) {
  std::vector<std::string> values;
  for (const auto& variant : variants) {
    for (const auto& axis : variant.axes) {
      if (axis.name == name) add_once(values, value_text(axis));
    }
  }
  return values;
}

std::int64_t swept_value(const Sweep& sweep, const std::string& text) {
  std::int64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  const auto hint = fmt::format("--axis {}={}", sweep.name, fmt::join(sweep.values, ","));
  if (problem != std::errc{} || stop != end) {
    usage(fmt::format("axis '{}': '{}' is not a whole number", sweep.name, text), hint);
  }
  if (value < sweep.min || value > sweep.max) {
    usage(fmt::format("axis '{}': {} is not within {} and {}", sweep.name, value, sweep.min, sweep.max), hint);
  }
  if (value % sweep.step != 0) {
    usage(fmt::format("axis '{}': {} is not a multiple of {}", sweep.name, value, sweep.step), hint);
  }
  return value;
}

void drop_other_variants(Experiment& experiment, const AxisChoice& choice, const std::vector<std::string>& known) {
  for (const auto& value : choice.values) {
    if (contains(known, value)) continue;
    usage(fmt::format("axis '{}' of {} has no value '{}'{}", choice.name, experiment.name, value,
                      closest_text(value, known)),
          list_hint(experiment));
  }
  std::erase_if(experiment.variants, [&](const Variant& variant) {
    return std::none_of(variant.axes.begin(), variant.axes.end(), [&](const measure::Axis& axis) {
      return axis.name == choice.name && contains(choice.values, value_text(axis));
    });
  });
}

void apply_axis(Experiment& experiment, const Experiment& of_all_rows, const AxisChoice& choice) {
  for (auto& sweep : experiment.sweeps) {
    if (sweep.name != choice.name) continue;
    std::vector<std::int64_t> values;
    for (const auto& value : choice.values) values.push_back(swept_value(sweep, value));
    sweep.values = std::move(values);
    return;
  }
  const auto known = variant_values(of_all_rows.variants, choice.name);
  if (!known.empty()) return drop_other_variants(experiment, choice, known);
  const auto names = axis_names(experiment);
  usage(fmt::format("{} has no axis '{}'{}", experiment.name, choice.name, closest_text(choice.name, names)),
        list_hint(experiment));
}

void apply_policies(Experiment& experiment, const std::vector<std::string>& wanted) {
  if (wanted.empty() || wanted == std::vector<std::string>{"all"}) return;
  const auto names = policy_names(experiment);
  for (const auto& policy : wanted) {
    if (contains(names, policy)) continue;
    usage(fmt::format("{} has no policy '{}'{}", experiment.name, policy, closest_text(policy, names)),
          list_hint(experiment));
  }
  std::erase_if(experiment.variants, [&](const Variant& v) { return !contains(wanted, v.policy); });
}

/// Variants by sweeps: the last sweep changes fastest.
std::vector<Point> points_of(const Experiment& experiment) {
  std::vector<Point> points;
  for (const auto& variant : experiment.variants) points.push_back({variant.path, variant.policy, variant.axes});
  for (const auto& sweep : experiment.sweeps) {
    std::vector<Point> wider;
    for (const auto& point : points) {
      for (const auto value : sweep.values) {
        wider.push_back(point);
        wider.back().axes.push_back({sweep.name, value});
      }
    }
    points = std::move(wider);
  }
  return points;
}

std::vector<const Experiment*> named(std::span<const Experiment> all, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const auto& experiment : all) known.push_back(experiment.name);
  std::vector<const Experiment*> chosen;
  for (const auto& name : names) {
    const auto at = std::find(known.begin(), known.end(), name);
    if (name != "all" && at == known.end()) {
      usage(fmt::format("no experiment '{}'{}", name, closest_text(name, known)), "marrow list");
    }
    for (const auto& experiment : all) {
      const bool wanted = name == "all" || experiment.name == name;
      if (wanted && std::find(chosen.begin(), chosen.end(), &experiment) == chosen.end()) chosen.push_back(&experiment);
    }
  }
  return chosen;
}

}  // namespace

std::vector<std::string> policy_names(const Experiment& experiment) {
  std::vector<std::string> names;
  for (const auto& variant : experiment.variants) add_once(names, variant.policy);
  return names;
}

std::vector<std::string> axis_names(const Experiment& experiment) {
  std::vector<std::string> names;
  for (const auto& sweep : experiment.sweeps) add_once(names, sweep.name);
  for (const auto& variant : experiment.variants) {
    for (const auto& axis : variant.axes) add_once(names, axis.name);
  }
  return names;
}

std::vector<Task> select(std::span<const Experiment> all, const RunOptions& options) {
  std::vector<Task> tasks;
  for (const auto* experiment : named(all, options.experiments)) {
    Experiment narrowed = *experiment;
    apply_policies(narrowed, options.policies);
    for (const auto& axis : options.axes) apply_axis(narrowed, *experiment, split_axis(axis));
    const auto points = points_of(narrowed);
    if (points.empty()) {
      usage(fmt::format("no row of {} has this policy and these axes", experiment->name), list_hint(*experiment));
    }
    for (const auto& point : points) tasks.push_back({experiment, point});
  }
  return tasks;
}

}  // namespace marrow::cli
