// SPDX-License-Identifier: Apache-2.0
// Typed reads of environment variables. A variable that is not set, or set to nothing, gives the fallback; one that
// cannot be understood throws an Error of kind kUsage which names the variable, the value and what would have been
// right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace marrow::util {

/// The text, valid until the environment changes.
[[nodiscard]] std::optional<std::string_view> env_text(const char* name);

struct IntegerRule {
  std::int64_t fallback = 0;
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};
/// A whole number, decimal or 0x hexadecimal.
[[nodiscard]] std::int64_t env_integer(const char* name, IntegerRule rule);

struct RealRule {
  double fallback = 0;
  double min = std::numeric_limits<double>::lowest();
  double max = std::numeric_limits<double>::max();
};
[[nodiscard]] double env_real(const char* name, RealRule rule);

/// on, yes, true, 1 against off, no, false, 0.
[[nodiscard]] bool env_switch(const char* name, bool fallback);

/// The index of the value among `choices`; the fallback is an index too.
[[nodiscard]] std::size_t env_choice(const char* name, std::span<const std::string_view> choices, std::size_t fallback);

}  // namespace marrow::util
