// SPDX-License-Identifier: Apache-2.0
// Where a suite is and how long it still takes. One line that is rewritten on a terminal; else one line an experiment.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace marrow::cli {

/// Time left: what the rest takes by its estimates, times how far the estimates were off until now.
class Estimate {
 public:
  void expect(double seconds) { left_ += seconds; }
  /// An experiment with this estimate took so long.
  void done(double estimate, double seconds);
  /// It was there already.
  void skip(double estimate) { left_ -= estimate; }
  [[nodiscard]] double left() const;

 private:
  double left_ = 0;
  double estimated_ = 0;
  double spent_ = 0;
};

/// "about 4 min", "under a minute".
[[nodiscard]] std::string time_text(double seconds);

class Progress {
 public:
  Progress(std::size_t experiments, bool terminal) : all_(experiments), terminal_(terminal) {}

  void expect(double seconds) { estimate_.expect(seconds); }
  void skip(double estimate) { estimate_.skip(estimate); }
  void begin(const std::string& experiment, double estimate);
  void row(std::size_t row, std::size_t rows);
  /// \param outcome  "4 passed, 0 failed, 0 waived"
  void end(const std::string& outcome);

 private:
  void show(const std::string& text) const;

  std::size_t all_;
  bool terminal_;
  std::size_t number_ = 0;
  std::string experiment_;
  double of_this_ = 0;
  std::chrono::nanoseconds since_{};
  Estimate estimate_;
};

}  // namespace marrow::cli
