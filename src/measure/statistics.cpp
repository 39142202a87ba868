// SPDX-License-Identifier: Apache-2.0
// Order statistics. Facts: nearest rank and the binomial interval of a median are textbook definitions; the tests hold
// values worked out by hand and from printed tables of the interval.
#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "util/error.h"

namespace marrow::measure {
namespace {

constexpr double kTail = 0.025;  // 95 % two-sided

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
  }
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
  return s;
}

}  // namespace marrow::measure
