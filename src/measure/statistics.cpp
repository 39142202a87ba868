// SPDX-License-Identifier: Apache-2.0
// Order statistics. Facts: nearest rank and the binomial interval of a median are textbook definitions; the tests hold
// values worked out by hand and from printed tables of the interval.
#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "measure/student.h"
#include "util/error.h"

namespace marrow::measure {
namespace {

constexpr double kTail = 0.025;  // 95 % two-sided
constexpr std::size_t kBlocks = 20;

/// P(X = k) for X ~ Binomial(n, 1/2), by logarithms so that large n does not underflow.
double half_binomial(std::size_t n, std::size_t k) {
  const auto nn = static_cast<double>(n);
  const auto kk = static_cast<double>(k);
  return std::exp(std::lgamma(nn + 1) - std::lgamma(kk + 1) - std::lgamma(nn - kk + 1) - nn * std::log(2.0));
}

void refuse_what_is_no_number(std::span<const double> samples) {
  if (samples.empty()) throw util::Error("no sample was taken, so there is nothing to summarise");
  const auto odd = std::find_if_not(samples.begin(), samples.end(), [](double v) { return std::isfinite(v); });
  if (odd == samples.end()) return;
  throw util::Error("sample " + std::to_string(odd - samples.begin()) + " of " + std::to_string(samples.size()) +
                    " is not a finite number");
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return nearest_rank(values, 50);
}

double mad_of(std::span<const double> samples, double median) {
  std::vector<double> distances;
  distances.reserve(samples.size());
  for (const double v : samples) distances.push_back(std::abs(v - median));
  return median_of(std::move(distances));
}

std::size_t count_outliers(const Summary& s, std::span<const double> samples) {
  constexpr double kFence = 3;
  const auto outside = [&](double v) { return v < s.p25 - kFence * s.iqr() || v > s.p75 + kFence * s.iqr(); };
  return static_cast<std::size_t>(std::count_if(samples.begin(), samples.end(), outside));
}

/// None where a stretch would hold fewer than five samples.
std::vector<double> block_medians(std::span<const double> samples) {
  constexpr std::size_t kLeast = 5;
  const auto count = std::min(kBlocks, samples.size() / kLeast);
  std::vector<double> medians;
  for (std::size_t i = 0; count >= kLeast && i < count; ++i) {
    const auto from = samples.size() * i / count;
    const auto to = samples.size() * (i + 1) / count;
    const auto block = samples.subspan(from, to - from);
    medians.push_back(median_of({block.begin(), block.end()}));
  }
  return medians;
}

/// Of the stretches of all runs, as many as one run has: how far the quantity moves within minutes.
std::vector<double> some_of(const std::vector<double>& blocks) {
  if (blocks.size() <= kBlocks) return blocks;
  std::vector<double> some;
  for (std::size_t i = 0; i < kBlocks; ++i) some.push_back(blocks[i * blocks.size() / kBlocks]);
  return some;
}

/// Student's t over the runs' medians, by their logarithms where all are above zero, so that no time's interval goes
/// below; of one run nothing is known of other runs.
std::optional<Interval> interval_of_runs(std::span<const ProcessRun> runs) {
  if (runs.size() < 2) return std::nullopt;
  std::vector<double> medians;
  for (const auto& run : runs) medians.push_back(run.p50);
  const bool by_logarithm = std::ranges::all_of(medians, [](double median) { return median > 0; });
  if (by_logarithm) std::ranges::transform(medians, medians.begin(), [](double median) { return std::log(median); });
  const auto m = moments_of(medians);
  const auto half = student_quantile(1 - kTail, m.degrees) * m.error_of_mean();
  const Interval interval{.low = m.mean - half, .high = m.mean + half};
  return by_logarithm ? Interval{.low = std::exp(interval.low), .high = std::exp(interval.high)} : interval;
}

}  // namespace

double nearest_rank(std::span<const double> sorted, unsigned percent) {
  const auto rank = (sorted.size() * percent + 99) / 100;  // ceil(n * percent / 100), exact
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

std::optional<Ranks> median_interval_ranks(std::size_t n) {
  // The widest cut d with P(X < d) <= 2.5 %: the interval from the d-th smallest to the d-th largest sample.
  const auto root = std::sqrt(static_cast<double>(n));
  const auto skip = static_cast<double>(n) / 2 - 8 * root;  // below this the tail is under 1e-50
  auto k = skip > 0 ? static_cast<std::size_t>(skip) : std::size_t{0};
  std::size_t cut = k;
  for (double below = 0; k < n; ++k) {
    below += half_binomial(n, k);
    if (below > kTail) break;
    cut = k + 1;
  }
  if (cut == 0) return std::nullopt;
  return Ranks{.low = cut - 1, .high = n - cut};
}

Summary summarise(std::span<const double> samples) {
  refuse_what_is_no_number(samples);
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  Summary s{.n = sorted.size(), .min = sorted.front(), .max = sorted.back()};
  s.p25 = nearest_rank(sorted, 25);
  s.p50 = nearest_rank(sorted, 50);
  s.p75 = nearest_rank(sorted, 75);
  s.p90 = nearest_rank(sorted, 90);
  s.p99 = nearest_rank(sorted, 99);
  s.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
  if (const auto ranks = median_interval_ranks(sorted.size())) {
    s.median_interval = Interval{.low = sorted[ranks->low], .high = sorted[ranks->high]};
    s.interval_by = IntervalBy::kOrderStatistics;
  }
  s.mad = mad_of(samples, s.p50);
  s.outliers = count_outliers(s, samples);
  s.blocks = block_medians(samples);
  s.runs = {{.n = s.n, .p50 = s.p50}};
  s.samples.assign(samples.begin(), samples.end());
  return s;
}

Summary pooled(std::span<const Summary> runs) {
  std::vector<double> all;
  std::vector<ProcessRun> each;
  std::vector<double> blocks;
  std::size_t n = 0;
  for (const auto& run : runs) {
    if (run.samples.empty()) throw util::Error("percentiles of several runs need their samples, and one has none");
    all.insert(all.end(), run.samples.begin(), run.samples.end());
    each.insert(each.end(), run.runs.begin(), run.runs.end());
    blocks.insert(blocks.end(), run.blocks.begin(), run.blocks.end());
    n += run.n;
  }
  auto s = summarise(all);
  s.n = n;  // a rate of rare things stands for more tries than it has samples
  if (each.size() < 2) return s;
  s.runs = std::move(each);
  s.blocks = some_of(blocks);
  s.median_interval = interval_of_runs(s.runs);
  s.interval_by = IntervalBy::kRuns;
  return s;
}

Summary Summary::scaled(double factor) const noexcept {
  Summary s = *this;
  for (auto member : {&Summary::min, &Summary::p25, &Summary::p50, &Summary::p75, &Summary::p90, &Summary::p99,
                      &Summary::max, &Summary::mean}) {
    s.*member *= factor;
  }
  if (s.median_interval)
    s.median_interval = Interval{s.median_interval->low * factor, s.median_interval->high * factor};
  if (s.mad) *s.mad *= factor;
  for (auto* list : {&s.blocks, &s.samples}) {
    for (double& value : *list) value *= factor;
  }
  for (auto& run : s.runs) run.p50 *= factor;
  return s;
}

}  // namespace marrow::measure
