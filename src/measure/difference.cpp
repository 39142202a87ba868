// SPDX-License-Identifier: Apache-2.0
// Which test a pair of metrics allows, and its verdict. Times and rates are compared by ratio, so on a logarithmic
// scale; what can be zero or negative (a loss in percent, a shift) by difference.
#include "measure/difference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "measure/student.h"

namespace marrow::measure {
namespace {

std::vector<double> run_medians(const Summary& s) {
  std::vector<double> medians;
  for (const auto& run : s.runs) medians.push_back(run.p50);
  return medians;
}

bool is_counted(const Metric& m) {
  return m.unit == "registers" || m.unit == "blocks" || (m.unit == "B" && m.summary.iqr() == 0);
}

/// The runs' medians and the medians of stretches inside runs.
struct Side {
  std::vector<double> runs;
  std::vector<double> stretches;
};
struct Sides {
  Method test = Method::kNone;
  Side a;
  Side b;
};

Sides sides_of(const Summary& a, const Summary& b) {
  Sides sides{.a = {run_medians(a), a.blocks}, .b = {run_medians(b), b.blocks}};
  const bool many_a = sides.a.runs.size() > 1;
  const bool many_b = sides.b.runs.size() > 1;
  if (many_a && many_b) {
    sides.test = Method::kRuns;
  } else if (many_a || many_b) {
    sides.test = Method::kOneAgainstRuns;
  } else if (a.blocks.size() > 1 && b.blocks.size() > 1) {
    sides.test = Method::kBlocks;
  }
  return sides;
}

std::array<std::vector<double>*, 4> lists_of(Sides& sides) {
  return {&sides.a.runs, &sides.a.stretches, &sides.b.runs, &sides.b.stretches};
}

bool all_positive(Sides sides) {
  const auto lists = lists_of(sides);
  return std::all_of(lists.begin(), lists.end(), [](const auto* list) {
    return std::all_of(list->begin(), list->end(), [](double v) { return v > 0; });
  });
}

void take_logarithms(Sides& sides) {
  for (auto* list : lists_of(sides)) {
    for (double& value : *list) value = std::log(value);
  }
}

/// The runs' mean, with the spread of stretches: a run is worth one stretch, however many samples it has.
Moments worth_a_stretch(const Side& side) {
  auto runs = moments_of(side.runs);
  const auto stretches = side.stretches.empty() ? Moments{} : moments_of(side.stretches);
  runs.variance = stretches.variance;
  runs.degrees = stretches.degrees;
  return runs;
}

/// The wider of two intervals, by the scatter of runs and by that of stretches. Few runs may lie close by chance, and a
/// quantity that moves within a run moves from run to run as well.
Difference tested(const Sides& sides, double confidence) {
  const std::array<std::pair<Moments, Moments>, 2> ways{
      {{moments_of(sides.a.runs), moments_of(sides.b.runs)}, {worth_a_stretch(sides.a), worth_a_stretch(sides.b)}}};
  Difference widest;
  for (const auto& [a, b] : ways) {
    if (a.degrees + b.degrees <= 0) continue;
    const auto difference = difference_of_means(a, b, confidence);
    if (difference.half_width >= widest.half_width) widest = difference;
  }
  return widest;
}

/// The step of the clock, as far as it shows: the least distance between different values of one side. Where a clock
/// has coarse steps, medians of the same thing are on one step or on the next.
double step_of(const Summary& s) {
  std::vector<double> values{s.min, s.p25, s.p50, s.p75, s.p90};
  values.insert(values.end(), s.blocks.begin(), s.blocks.end());
  for (const auto& run : s.runs) values.push_back(run.p50);
  std::sort(values.begin(), values.end());
  double step = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] > values[i - 1]) step = std::min(step, values[i] - values[i - 1]);
  }
  return step;
}

bool within_a_step(const Summary& a, const Summary& b) {
  constexpr double kRounding = 1.01;
  const double step = std::min(step_of(a), step_of(b));
  return std::isfinite(step) && std::abs(b.p50 - a.p50) <= step * kRounding;
}

Verdict direction(Better better, bool grew) {
  if (better == Better::kNeither) return Verdict::kDiffers;
  return (better == Better::kMore) == grew ? Verdict::kBetter : Verdict::kWorse;
}

/// By ratio: the interval of b / a.
void by_ratio(Sides sides, const CompareLimits& limits, Better better, Compared& out) {
  take_logarithms(sides);
  const auto d = tested(sides, limits.confidence);
  out.interval = Interval{std::exp(d.low()), std::exp(d.high())};
  const bool excludes_one = out.interval->low > 1 || out.interval->high < 1;
  const bool large = std::max(std::exp(d.value), std::exp(-d.value)) >= 1 + limits.least;
  out.verdict = excludes_one && large ? direction(better, d.value > 0) : Verdict::kNoise;
}

void by_difference(const Sides& sides, const CompareLimits& limits, Better better, Compared& out) {
  const auto d = tested(sides, limits.confidence);
  out.interval = Interval{d.low(), d.high()};
  const bool excludes_zero = d.low() > 0 || d.high() < 0;
  const bool large = std::abs(d.value) >= limits.least * std::max(std::abs(out.a), std::abs(out.b));
  out.verdict = excludes_zero && large ? direction(better, d.value > 0) : Verdict::kNoise;
}

}  // namespace

Compared difference(const Metric& a, const Metric& b, const CompareLimits& limits) {
  Compared out{.metric = a.name, .unit = a.unit, .kind = a.kind, .a = a.summary.p50, .b = b.summary.p50};
  const auto better = better_of(a);
  if (out.a > 0 && out.b > 0) out.ratio = out.b / out.a;
  if (is_counted(a) && is_counted(b)) {
    out.test = Method::kExact;
    out.verdict = out.a == out.b ? Verdict::kNoise : direction(better, out.b > out.a);
    return out;
  }
  auto sides = sides_of(a.summary, b.summary);
  out.test = sides.test;
  if (sides.test == Method::kNone) return out;
  if (all_positive(sides) && out.ratio) {
    by_ratio(std::move(sides), limits, better, out);
  } else {
    out.ratio.reset();
    by_difference(sides, limits, better, out);
  }
  if (within_a_step(a.summary, b.summary)) out.verdict = Verdict::kNoise;
  return out;
}

}  // namespace marrow::measure
