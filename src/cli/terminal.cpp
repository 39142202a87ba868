// SPDX-License-Identifier: Apache-2.0
// Facts: TIOCGWINSZ [abi]; NO_COLOR is a convention of many tools (no-color.org).
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "util/env.h"
#include "util/error.h"

namespace marrow::cli {

measure::Look stdout_look() {
  constexpr std::size_t kLeast = 40;
  measure::Look look;
  const bool tty = ::isatty(STDOUT_FILENO) == 1;
  winsize size{};
  if (tty && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    look.width = size.ws_col;
  } else {
    const auto fallback = static_cast<std::int64_t>(look.width);
    look.width =
        static_cast<std::size_t>(util::env_integer("COLUMNS", {.fallback = fallback, .min = 1, .max = 10'000}));
  }
  look.width = std::max(look.width, kLeast);
  look.colour = tty && !util::env_text("NO_COLOR");
  return look;
}

void print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) throw util::system_error("write to stdout", errno);
}

}  // namespace marrow::cli
