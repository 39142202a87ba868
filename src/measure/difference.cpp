// SPDX-License-Identifier: Apache-2.0
// Which test a pair of metrics allows, and its verdict. Times and rates are compared by ratio, so on a logarithmic
// scale; what can be zero or negative (a loss in percent, a shift) by difference.
#include "measure/difference.h"

#include <algorithm>
#include <cmath>
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

/// What stands for the spread of each side, and by which test.
struct Sides {
  Method test = Method::kNone;
  std::vector<double> a;
  std::vector<double> b;
};

Sides sides_of(const Summary& a, const Summary& b) {
  const bool many_a = a.runs.size() > 1;
  const bool many_b = b.runs.size() > 1;
  if (many_a && many_b) return {Method::kRuns, run_medians(a), run_medians(b)};
  if (many_a || many_b) return {Method::kOneAgainstRuns, run_medians(a), run_medians(b)};
  if (a.blocks.size() > 1 && b.blocks.size() > 1) return {Method::kBlocks, a.blocks, b.blocks};
  return {};
}

bool all_positive(const Sides& sides) {
  const auto positive = [](double v) { return v > 0; };
  return std::all_of(sides.a.begin(), sides.a.end(), positive) && std::all_of(sides.b.begin(), sides.b.end(), positive);
}

void take_logarithms(Sides& sides) {
  for (auto* side : {&sides.a, &sides.b}) {
    for (double& value : *side) value = std::log(value);
  }
}

Difference tested(const Sides& sides, double confidence) {
  return difference_of_means(moments_of(sides.a), moments_of(sides.b), confidence);
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
  return out;
}

}  // namespace marrow::measure
