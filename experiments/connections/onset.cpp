// SPDX-License-Identifier: Apache-2.0
// For a given onset the fit is linear in (log plateau, exponent); the onset itself is searched on a fine grid.
#include "experiments/connections/onset.h"

#include <cmath>
#include <limits>

namespace marrow::experiments {
namespace {

struct Line {
  double offset = 0;
  double slope = 0;
  double error = 0;  // sum of squares
};

/// Least squares of log y against how far log x lies beyond the onset.
Line line_from(const std::vector<CurvePoint>& curve, double onset) {
  double n = 0, sum_u = 0, sum_v = 0, sum_uu = 0, sum_uv = 0;
  const auto beyond = [&](const CurvePoint& p) { return std::max(0.0, std::log(p.x / onset)); };
  for (const auto& point : curve) {
    const double u = beyond(point);
    const double v = std::log(point.y);
    n += 1;
    sum_u += u;
    sum_v += v;
    sum_uu += u * u;
    sum_uv += u * v;
  }
  const double spread = n * sum_uu - sum_u * sum_u;
  Line line;
  line.slope = spread > 0 ? (n * sum_uv - sum_u * sum_v) / spread : 0;
  line.offset = (sum_v - line.slope * sum_u) / n;
  for (const auto& point : curve) {
    const double miss = std::log(point.y) - line.offset - line.slope * beyond(point);
    line.error += miss * miss;
  }
  return line;
}

}  // namespace

Onset fit_onset(const std::vector<CurvePoint>& curve) {
  constexpr int kSteps = 2000;
  Onset best;
  double least = std::numeric_limits<double>::infinity();
  const double ratio = curve.back().x / curve.front().x;
  for (int i = 0; i < kSteps; ++i) {
    const double onset = curve.front().x * std::pow(ratio, static_cast<double>(i) / kSteps);
    const auto line = line_from(curve, onset);
    if (line.error >= least) continue;
    least = line.error;
    best = {.x = onset, .plateau = std::exp(line.offset), .exponent = line.slope};
  }
  return best;
}

}  // namespace marrow::experiments
