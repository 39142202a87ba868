// SPDX-License-Identifier: Apache-2.0
// From samples to the numbers that are printed. docs/measuring.md repeats the definitions for readers.
//
//   const auto s = summarise(samples.values());   // throws on none, and on a value that is not a finite number
//   s.p50, s.p99, s.n, s.iqr(), s.median_interval
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace marrow::measure {

struct Interval {
  double low = 0;
  double high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Every statistic is one of the samples (mean apart): percentiles are by nearest rank, nothing is interpolated and no
/// sample is dropped.
struct Summary {
  std::size_t n = 0;
  double min = 0;
  double p25 = 0;
  double p50 = 0;
  double p75 = 0;
  double p90 = 0;
  double p99 = 0;
  double max = 0;
  double mean = 0;
  /// Holds the true median with at least 95 % probability if the samples are independent: two order statistics,
  /// ranks from the binomial distribution, no assumption on shape. Absent below 6 samples, where no pair reaches 95 %.
  std::optional<Interval> median_interval;

  /// Interquartile range: the spread that is printed beside the median.
  [[nodiscard]] double iqr() const noexcept { return p75 - p25; }
  /// The same numbers in another unit, e.g. scaled(1e-3) from nanoseconds to microseconds.
  [[nodiscard]] Summary scaled(double factor) const noexcept;
};

/// \throws util::Error when there is no sample, or one is NaN or infinite.
[[nodiscard]] Summary summarise(std::span<const double> samples);

/// Nearest-rank percentile: the smallest sample with at least `percent` % of all samples at or below it.
/// `sorted` is ascending and not empty; `percent` in (0, 100].
[[nodiscard]] double nearest_rank(std::span<const double> sorted, unsigned percent);

/// The zero-based ranks (low, high) of the median's 95 % interval for n samples; none for n < 6.
struct Ranks {
  std::size_t low = 0;
  std::size_t high = 0;
  friend bool operator==(const Ranks&, const Ranks&) = default;
};
[[nodiscard]] std::optional<Ranks> median_interval_ranks(std::size_t n);

}  // namespace marrow::measure
