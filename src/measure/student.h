// SPDX-License-Identifier: Apache-2.0
// Student's t and the comparison of two means by it: the arithmetic of compare.h. Tests hold printed tables of t.
#pragma once

#include <cstddef>
#include <span>

namespace marrow::measure {

/// Mean and variance of independent values.
struct Moments {
  std::size_t n = 0;
  double mean = 0;
  double variance = 0;  // of one value
  double degrees = 0;   // of freedom that the variance has

  /// Standard error of the mean.
  [[nodiscard]] double error_of_mean() const;
};
/// Of one value or more; one has a mean, and a variance of no degrees. \throws util::Error for none.
[[nodiscard]] Moments moments_of(std::span<const double> values);

/// The value that Student's t with so many degrees of freedom stays below with probability p. `p` in (0, 1), degrees >
/// 0.
[[nodiscard]] double student_quantile(double p, double degrees);

/// b's mean minus a's, and the half width of its two-sided interval.
struct Difference {
  double value = 0;
  double half_width = 0;

  [[nodiscard]] double low() const { return value - half_width; }
  [[nodiscard]] double high() const { return value + half_width; }
};
/// Student's t with the spread that both sides share; a side of one value takes the other's. `confidence` in (0, 1).
/// \throws util::Error when neither side has two values.
[[nodiscard]] Difference difference_of_means(const Moments& a, const Moments& b, double confidence);

}  // namespace marrow::measure
