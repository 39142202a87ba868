// SPDX-License-Identifier: Apache-2.0
// See clock_fit.h.
#include "measure/clock_fit.h"

#include <algorithm>

#include "util/error.h"

namespace marrow::measure {
namespace {

struct Sums {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
};

Sums sums_of(std::span<const ClockPoint> points) {
  Sums s;
  for (const auto& p : points) {
    if (!(p.mhz > 0)) throw util::Error("a clock of no more than 0 MHz cannot be fitted");
    const double x = 1 / p.mhz;
    s.n += 1;
    s.x += x;
    s.y += p.us;
    s.xx += x * x;
    s.xy += x * p.us;
  }
  return s;
}

double explained(std::span<const ClockPoint> points, const ClockFit& fit, double mean) {
  double all = 0;
  double left = 0;
  for (const auto& p : points) {
    all += (p.us - mean) * (p.us - mean);
    left += (p.us - fit.at(p.mhz)) * (p.us - fit.at(p.mhz));
  }
  return all == 0 ? 1 : 1 - left / all;
}

}  // namespace

ClockFit fit_clock(std::span<const ClockPoint> points) {
  const auto same = [&](const ClockPoint& p) { return p.mhz == points.front().mhz; };
  if (points.empty() || std::all_of(points.begin(), points.end(), same)) {
    throw util::Error("a fit over the clock needs two clocks that differ");
  }
  const auto s = sums_of(points);
  ClockFit fit;
  fit.cycles = (s.n * s.xy - s.x * s.y) / (s.n * s.xx - s.x * s.x);
  fit.us = (s.y - fit.cycles * s.x) / s.n;
  fit.r2 = explained(points, fit, s.y / s.n);
  return fit;
}

}  // namespace marrow::measure
