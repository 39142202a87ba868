// SPDX-License-Identifier: Apache-2.0
// Lists written with commas on the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace marrow::cli {

/// The parts between commas, empty ones included: "a,,b" has three.
[[nodiscard]] inline std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace marrow::cli
