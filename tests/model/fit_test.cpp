// SPDX-License-Identifier: Apache-2.0
// The profile that ships gives the paper's curve within what docs/connections.md states, fitted points and predictions
// apart; and a profile that is a little off does not.
#include "experiments/connections/fit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace marrow::experiments {
namespace {

constexpr double kFittedWithin = 0.03;
constexpr double kPredictedWithin = 0.09;
constexpr double kOnsetWithin = 0.15;

double allowed(const Compared& point) {
  if (point.metric == "onset") return kOnsetWithin;
  return point.fitted ? kFittedWithin : kPredictedWithin;
}

TEST(Fit, ThePaperIsMetWithinWhatTheDocumentationStates) {
  int fitted = 0;
  int held_out = 0;
  for (const auto& point : compared_with_paper(model::find_profile("cx7-200g"), Which::kAll)) {
    EXPECT_LE(std::abs(point.error()), allowed(point))
        << point.row << ", " << point.metric << ": paper " << point.paper << ", model " << point.model;
    (point.fitted ? fitted : held_out) += 1;
  }
  EXPECT_EQ(fitted, 12);
  EXPECT_EQ(held_out, 8);
}

TEST(Fit, AProfileThatIsOffDoesNot) {
  const auto worst = [](const model::Profile& profile) {
    double most = 0;
    for (const auto& point : compared_with_paper(profile, Which::kShared)) {
      most = std::max(most, std::abs(point.error()));
    }
    return most;
  };
  auto profile = model::find_profile("cx7-200g");
  EXPECT_LE(worst(profile), kFittedWithin);
  profile.receive.miss_ns *= 1.3;
  EXPECT_GT(worst(profile), kFittedWithin);
  profile = model::find_profile("cx7-200g");
  profile.cache_entries = profile.cache_entries / 2 / profile.cache_ways * profile.cache_ways;
  EXPECT_GT(worst(profile), kFittedWithin);
}

}  // namespace
}  // namespace marrow::experiments
