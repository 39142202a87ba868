// SPDX-License-Identifier: Apache-2.0
// The one exception of set-up code and tools. It carries what a person needs: a sentence with the values in it and,
// where we know one, a thing to try. The data path never throws; it returns a status.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace marrow::util {

/// What kind of end this is; the value is the process's exit code.
enum class ErrorKind : int {
  kFailed = 1,   // it was tried and did not work
  kUsage = 2,    // the request makes no sense, whatever the machine
  kWaived = 77,  // nothing could run here; ctest counts it as skipped
};

/// Where an error was made, for logs. Not std::source_location: clang 14, which reads this code too, has none yet.
struct Place {
  const char* file;
  int line;

  [[nodiscard]] static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

class Error : public std::runtime_error {
 public:
  /// \param sentence  lower case, no full stop, with the values: "no device named mlx5_9".
  /// \param hint      printed after "try:"; a command or a change, or empty when we know none.
  explicit Error(const std::string& sentence, ErrorKind kind = ErrorKind::kFailed, std::string hint = {},
                 Place place = Place::here());

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] int exit_code() const noexcept { return static_cast<int>(kind_); }
  [[nodiscard]] const std::string& hint() const noexcept { return hint_; }
  [[nodiscard]] const Place& place() const noexcept { return place_; }

 private:
  ErrorKind kind_;
  std::string hint_;
  Place place_;
};

/// What main() prints: "error: <sentence>" and, when there is a hint, a second line "try: <hint>". No final newline.
[[nodiscard]] std::string describe(const Error& error);

/// An Error of kind kFailed for a system call: "<what>: <text of error_number>", as in "open /dev/x: no such file".
[[nodiscard]] Error system_error(std::string_view what, int error_number, Place place = Place::here());

}  // namespace marrow::util
