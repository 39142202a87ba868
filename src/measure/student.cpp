// SPDX-License-Identifier: Apache-2.0
// The distribution by the incomplete beta function (continued fraction, Lentz), its quantile by bisection, the degrees
// of freedom of two variances by Welch and Satterthwaite: textbook formulas.
#include "measure/student.h"

#include <cmath>

#include "util/error.h"

namespace marrow::measure {
namespace {

/// Continued fraction of the incomplete beta function.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kTerms = 300;
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double product = d;
  for (int m = 1; m <= kTerms; ++m) {
    const double two_m = 2.0 * m;
    for (const double numerator : {m * (b - m) * x / ((a + two_m - 1) * (a + two_m)),
                                   -(a + m) * (a + b + m) * x / ((a + two_m) * (a + two_m + 1))}) {
      d = 1 / away_from_zero(1 + numerator * d);
      c = away_from_zero(1 + numerator / c);
      product *= d * c;
    }
    if (std::abs(d * c - 1) < 1e-14) break;
  }
  return product;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/// P(T <= t) for t >= 0.
double student_probability(double t, double degrees) {
  return 1 - incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2;
}

}  // namespace

double Moments::error_of_mean() const {
  return std::sqrt(variance / static_cast<double>(n));
}

Moments moments_of(std::span<const double> values) {
  if (values.empty()) throw util::Error("there is no value to take the mean of");
  Moments m{.n = values.size(), .degrees = static_cast<double>(values.size() - 1)};
  for (const double v : values) m.mean += v;
  m.mean /= static_cast<double>(m.n);
  for (const double v : values) m.variance += (v - m.mean) * (v - m.mean);
  if (m.degrees > 0) m.variance /= m.degrees;
  return m;
}

double student_quantile(double p, double degrees) {
  if (p < 0.5) return -student_quantile(1 - p, degrees);
  double low = 0;
  double high = 1;
  while (student_probability(high, degrees) < p && high < 1e12) high *= 2;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (student_probability(middle, degrees) < p ? low : high) = middle;
  }
  return high;
}

Difference difference_of_means(const Moments& a, const Moments& b, double confidence) {
  const double degrees = a.degrees + b.degrees;
  if (degrees == 0) throw util::Error("a spread needs two values on one side, and there are fewer");
  const double variance = (a.variance * a.degrees + b.variance * b.degrees) / degrees;
  const double error = std::sqrt(variance * (1 / static_cast<double>(a.n) + 1 / static_cast<double>(b.n)));
  const double quantile = student_quantile(1 - (1 - confidence) / 2, degrees);
  return {.value = b.mean - a.mean, .half_width = quantile * error};
}

}  // namespace marrow::measure
