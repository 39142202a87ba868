// SPDX-License-Identifier: Apache-2.0
// From samples to the numbers that are printed. docs/measuring.md repeats the definitions for readers.
//
//   const auto s = summarise(samples.values());   // in the order in which they were taken
//   s.p50, s.p99, s.n, s.iqr(), s.median_interval
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace marrow::measure {

struct Interval {
  double low = 0;
  double high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// One process's part in a result of several.
struct ProcessRun {
  std::size_t n = 0;
  double p50 = 0;
  friend bool operator==(const ProcessRun&, const ProcessRun&) = default;
};

/// How an interval of the median came about. docs/comparing.md says what each knows of.
enum class IntervalBy : unsigned char { kNone, kOrderStatistics, kRuns };

/// Every percentile is one of the samples, by nearest rank: nothing is interpolated and no sample is dropped.
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
  /// Median of the distances from the median. Absent in results that older versions wrote.
  std::optional<double> mad;
  /// Samples further than 3 iqr outside the quartiles. They are counted, shown in max, and part of every statistic.
  std::optional<std::size_t> outliers;
  /// 95 %. Of one process: two order statistics, ranks from the binomial distribution, no assumption on shape, samples
  /// taken as independent; absent below 6 samples, where no pair reaches 95 %. Of several processes: Student's t over
  /// their medians.
  std::optional<Interval> median_interval;
  IntervalBy interval_by = IntervalBy::kNone;
  /// Medians of up to 20 stretches of a process's samples, in the order of time: what drifts shows here. Of several
  /// processes: some of each one's.
  std::vector<double> blocks = {};
  std::vector<ProcessRun> runs = {};
  /// All samples in the order of time. Kept by summarise(); a document holds them only on request.
  std::vector<double> samples = {};

  /// Interquartile range: the spread that is printed beside the median.
  [[nodiscard]] double iqr() const noexcept { return p75 - p25; }
  /// The same numbers in another unit, e.g. scaled(1e-3) from nanoseconds to microseconds.
  [[nodiscard]] Summary scaled(double factor) const noexcept;
};

/// \throws util::Error when there is no sample, or one is NaN or infinite.
[[nodiscard]] Summary summarise(std::span<const double> samples);

/// The runs of one quantity in processes of their own as one summary: percentiles over all samples, `runs` apart.
/// \throws util::Error when there is none, or one came without its samples.
[[nodiscard]] Summary pooled(std::span<const Summary> runs);

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
