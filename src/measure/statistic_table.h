// SPDX-License-Identifier: Apache-2.0
// The statistics of a summary by the names that documents, CSV files and thresholds give them.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include "measure/statistics.h"

namespace marrow::measure {

struct Statistic {
  std::string_view name;
  double (*of)(const Summary&);
};
inline constexpr std::array<Statistic, 10> kAllStatistics{{
    {"p50", [](const Summary& s) { return s.p50; }},
    {"p90", [](const Summary& s) { return s.p90; }},
    {"p99", [](const Summary& s) { return s.p99; }},
    {"min", [](const Summary& s) { return s.min; }},
    {"max", [](const Summary& s) { return s.max; }},
    {"mean", [](const Summary& s) { return s.mean; }},
    {"p25", [](const Summary& s) { return s.p25; }},
    {"p75", [](const Summary& s) { return s.p75; }},
    {"iqr", [](const Summary& s) { return s.iqr(); }},
    {"mad", [](const Summary& s) { return s.mad.value_or(std::numeric_limits<double>::quiet_NaN()); }},
}};

[[nodiscard]] inline const Statistic* find_statistic(std::string_view name) {
  const auto* const at = std::find_if(kAllStatistics.begin(), kAllStatistics.end(),
                                      [&](const Statistic& statistic) { return statistic.name == name; });
  return at == kAllStatistics.end() ? nullptr : at;
}
[[nodiscard]] inline bool is_statistic(std::string_view name) {
  return find_statistic(name) != nullptr;
}
/// Not a number where an older document did not record it, and then no threshold holds.
[[nodiscard]] inline double statistic_of(const Summary& summary, std::string_view name) {
  const auto* const statistic = find_statistic(name);
  return statistic == nullptr ? std::numeric_limits<double>::quiet_NaN() : statistic->of(summary);
}
[[nodiscard]] inline std::vector<std::string_view> statistic_names() {
  std::vector<std::string_view> names;
  for (const auto& statistic : kAllStatistics) names.push_back(statistic.name);
  return names;
}

}  // namespace marrow::measure
