// SPDX-License-Identifier: Apache-2.0
// See env.h.
#include "util/env.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string>

#include "util/error.h"

namespace marrow::util {
namespace {

[[noreturn]] void refuse(const char* name, std::string_view value, const std::string& expected) {
  throw Error(fmt::format("{} is '{}': expected {}", name, value, expected), ErrorKind::kUsage,
              fmt::format("unset {}", name));
}

/// The whole of `text` as a number, or nothing.
template <typename T, typename... Base>
std::optional<T> parse(std::string_view text, Base... base) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.starts_with("0x") && !text.substr(2).starts_with('-')) return parse<std::int64_t>(text.substr(2), 16);
  return parse<std::int64_t>(text, 10);
}

}  // namespace

std::optional<std::string_view> env_text(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::int64_t env_integer(const char* name, IntegerRule rule) {
  const auto text = env_text(name);
  if (!text) return rule.fallback;
  const auto value = parse_integer(*text);
  if (!value || *value < rule.min || *value > rule.max) {
    refuse(name, *text, fmt::format("a whole number from {} to {}", rule.min, rule.max));
  }
  return *value;
}

double env_real(const char* name, RealRule rule) {
  const auto text = env_text(name);
  if (!text) return rule.fallback;
  const auto value = parse<double>(*text);
  // Written so that NaN is refused too.
  if (!value || !(*value >= rule.min && *value <= rule.max)) {
    refuse(name, *text, fmt::format("a number from {} to {}", rule.min, rule.max));
  }
  return *value;
}

bool env_switch(const char* name, bool fallback) {
  static constexpr std::array<std::string_view, 8> kWords{"off", "on", "no", "yes", "false", "true", "0", "1"};
  return env_choice(name, kWords, fallback ? 1 : 0) % 2 == 1;
}

std::size_t env_choice(const char* name, std::span<const std::string_view> choices, std::size_t fallback) {
  const auto text = env_text(name);
  if (!text) return fallback;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] == *text) return i;
  }
  refuse(name, *text, fmt::format("one of {}", fmt::join(choices, ", ")));
}

}  // namespace marrow::util
