// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the known names nearest to what was typed, for error messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace marrow::cli {

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// Up to three names, nearest first: those that contain what was typed or differ by few letters. Empty if none is near.
[[nodiscard]] std::vector<std::string> closest(std::string_view typed, std::span<const std::string> names);

/// "; closest: a, b", or "; known: all of them" when none is near and they are few, or nothing.
[[nodiscard]] std::string closest_text(std::string_view typed, std::span<const std::string> names);

}  // namespace marrow::cli
