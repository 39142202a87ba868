// SPDX-License-Identifier: Apache-2.0
// Logging: one line a call, to stderr only, as "marrow[pid] warning: text". The level comes from MARROW_LOG (debug,
// info, warn, error, off; default warn) and is read once, at first use.
//
// Any thread may call, also before main(), from a preloaded object, after exit handlers started and in a forked child:
// nothing here is ever destroyed, and the lock is held across fork(). Not for signal handlers. A switched-off line
// costs one load and one compare; its arguments are evaluated but not formatted.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace marrow::util::log {

enum class Level : int { kDebug, kInfo, kWarn, kError, kOff };

[[nodiscard]] Level level() noexcept;
/// Overrides MARROW_LOG, for command line options and tests.
void set_level(Level level) noexcept;
[[nodiscard]] inline bool enabled(Level at) noexcept {
  return at >= level();
}

/// Writes an already formatted line when `at` is enabled.
void write(Level at, std::string_view text);
/// True the first time this process asks about `key`; a forked child inherits what was seen before the fork.
[[nodiscard]] bool first_time(std::string_view key);

template <typename... Args>
void format_and_write(Level at, fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(at)) write(at, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  format_and_write(Level::kDebug, format, std::forward<Args>(args)...);
}

template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  format_and_write(Level::kInfo, format, std::forward<Args>(args)...);
}

template <typename... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  format_and_write(Level::kWarn, format, std::forward<Args>(args)...);
}

template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  format_and_write(Level::kError, format, std::forward<Args>(args)...);
}

/// Whoever keeps what once() says, also where the level hides it; null for nobody. Never called twice at the same time
/// for one key.
using Listener = void (*)(std::string_view key, std::string_view text);
void on_first(Listener listener) noexcept;
/// \internal
[[nodiscard]] Listener listener() noexcept;

/// Warns once per process and key. For what is refused because it is not modelled: the key is its name, so that a
/// caller who retries a thousand times reads about it once. Returns whether this was the first time.
template <typename... Args>
bool once(std::string_view key, fmt::format_string<Args...> format, Args&&... args) {
  if (!first_time(key)) return false;
  const Listener told = listener();
  if (told == nullptr && !enabled(Level::kWarn)) return true;
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  if (told != nullptr) told(key, text);
  write(Level::kWarn, text);
  return true;
}

}  // namespace marrow::util::log
