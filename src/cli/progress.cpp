// SPDX-License-Identifier: Apache-2.0
// See progress.h. Everything goes to stderr: results are on stdout.
#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "util/clock.h"

namespace marrow::cli {

void Estimate::done(double estimate, double seconds) {
  left_ -= estimate;
  estimated_ += estimate;
  spent_ += seconds;
}

double Estimate::left() const {
  constexpr double kTrust = 10;  // seconds of estimates that count before the first experiment is done
  return std::max(0.0, left_) * (spent_ + kTrust) / (estimated_ + kTrust);
}

std::string time_text(double seconds) {
  constexpr double kMinute = 60;
  if (seconds < kMinute) return "under a minute";
  return fmt::format("about {:.0f} min", std::ceil(seconds / kMinute));
}

void Progress::begin(const std::string& experiment, double estimate) {
  ++number_;
  experiment_ = experiment;
  of_this_ = estimate;
  since_ = util::now();
  show(fmt::format("{} of {}  {}  {} left", number_, all_, experiment_, time_text(estimate_.left())));
}

void Progress::row(std::size_t row, std::size_t rows) {
  show(fmt::format("{} of {}  {}, row {} of {}  {} left", number_, all_, experiment_, row + 1, rows,
                   time_text(estimate_.left())));
}

void Progress::end(const std::string& outcome) {
  const auto seconds = std::chrono::duration<double>(util::now() - since_).count();
  estimate_.done(of_this_, seconds);
  const auto clear = terminal_ ? "\r\x1b[K" : "";
  std::fprintf(stderr, "%s",
               fmt::format("{}{:>3} of {}  {:<24} {:6.1f} s  {}\n", clear, number_, all_, experiment_, seconds, outcome)
                   .c_str());
}

void Progress::show(const std::string& text) const {
  if (!terminal_) return;
  winsize size{};  // a line that wraps could not be rewritten
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  std::fprintf(stderr, "\r\x1b[K%s", text.substr(0, known ? size.ws_col - 1U : text.size()).c_str());
  std::fflush(stderr);
}

}  // namespace marrow::cli
