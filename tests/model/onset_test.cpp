// SPDX-License-Identifier: Apache-2.0
// Fits against curves whose answer is known.
#include "experiments/connections/onset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "experiments/connections/fit.h"

namespace marrow::experiments {
namespace {

TEST(Onset, FindsWhereAPlateauBreaks) {
  std::vector<CurvePoint> curve;
  for (double x = 200; x <= 4000; x += 200) curve.push_back({x, 0.9 * std::pow(std::max(1.0, x / 1300), -1.5)});
  const auto onset = fit_onset(curve);
  EXPECT_NEAR(onset.x, 1300, 5);
  EXPECT_NEAR(onset.plateau, 0.9, 1e-3);
  EXPECT_NEAR(onset.exponent, -1.5, 0.01);
}

TEST(LeastSquares, FindsTheParametersOfACurve) {
  const auto residuals = [](const std::vector<double>& p) {
    std::vector<double> all;
    for (const double x : {1.0, 2.0, 4.0, 8.0}) all.push_back(p[0] / (1 + x / p[1]) - 5 / (1 + x / 3.0));
    return all;
  };
  const auto found = least_squares(residuals, {1, 10});
  EXPECT_NEAR(found[0], 5, 0.01);
  EXPECT_NEAR(found[1], 3, 0.01);
}

}  // namespace
}  // namespace marrow::experiments
