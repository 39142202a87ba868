// SPDX-License-Identifier: Apache-2.0
// Edit distance (optimal string alignment) and the choice of names to offer.
#include "cli/closest.h"

#include <fmt/format.h>

#include <algorithm>

namespace marrow::cli {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::vector<std::string> closest(std::string_view typed, std::span<const std::string> names) {
  struct Near {
    std::size_t distance;
    std::string name;
  };
  std::vector<Near> near;
  for (const auto& name : names) {
    const auto distance = edit_distance(typed, name);
    const bool contains = typed.size() >= 2 && name.find(typed) != std::string::npos;
    if (contains || distance <= 1 + name.size() / 4) near.push_back({contains ? 1 : distance, name});
  }
  std::stable_sort(near.begin(), near.end(), [](const Near& a, const Near& b) { return a.distance < b.distance; });
  std::vector<std::string> result;
  for (const auto& n : near) {
    if (result.size() < 3 && std::find(result.begin(), result.end(), n.name) == result.end()) result.push_back(n.name);
  }
  return result;
}

std::string closest_text(std::string_view typed, std::span<const std::string> names) {
  constexpr std::size_t kFew = 12;
  const auto near = closest(typed, names);
  if (!near.empty()) return fmt::format("; closest: {}", fmt::join(near, ", "));
  if (names.empty() || names.size() > kFew) return {};
  return fmt::format("; known: {}", fmt::join(names, ", "));
}

}  // namespace marrow::cli
