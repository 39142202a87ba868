// SPDX-License-Identifier: Apache-2.0
// Order statistics against values worked out by hand.
#include "measure/statistics.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <vector>

#include "measure/samples.h"
#include "util/error.h"

namespace marrow::measure {
namespace {

TEST(Summary, OfNothingIsRefused) {
  EXPECT_THROW((void)summarise({}), util::Error);
}

TEST(Summary, OfWhatIsNoNumberIsRefused) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const std::vector<double> values{1, bad, 2};
    EXPECT_THROW((void)summarise(values), util::Error);
  }
}

TEST(Summary, OfOneSampleIsThatSampleWithoutAnInterval) {
  const auto s = summarise(std::vector<double>{7});
  EXPECT_EQ(s.n, 1U);
  EXPECT_EQ(s.p50, 7);
  EXPECT_EQ(s.p99, 7);
  EXPECT_EQ(s.iqr(), 0);
  EXPECT_FALSE(s.median_interval);
}

// 15, 20, 35, 40, 50: the usual example of nearest rank. Ranks: p25 ceil(1.25)=2, p50 3, p75 4, p90 5, p99 5.
TEST(Summary, PercentilesAreNearestRanks) {
  const auto s = summarise(std::vector<double>{50, 20, 15, 40, 35});
  EXPECT_EQ(s.min, 15);
  EXPECT_EQ(s.p25, 20);
  EXPECT_EQ(s.p50, 35);
  EXPECT_EQ(s.p75, 40);
  EXPECT_EQ(s.p90, 50);
  EXPECT_EQ(s.p99, 50);
  EXPECT_EQ(s.max, 50);
  EXPECT_EQ(s.mean, 32);
  EXPECT_EQ(s.iqr(), 20);
}

// 1..1000: the percentile q is q*10, also where the count does not divide evenly (1..999).
TEST(Summary, ManySamplesIncludingACountThatDoesNotDivideEvenly) {
  std::vector<double> values(1000);
  std::iota(values.begin(), values.end(), 1.0);
  auto s = summarise(values);
  EXPECT_EQ(s.p50, 500);
  EXPECT_EQ(s.p90, 900);
  EXPECT_EQ(s.p99, 990);
  values.pop_back();
  s = summarise(values);
  EXPECT_EQ(s.p50, 500);  // ceil(499.5)
  EXPECT_EQ(s.p99, 990);  // ceil(989.01)
}

TEST(Summary, AnOutlierIsReportedAndDoesNotMoveTheMedian) {
  const auto s = summarise(std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1000000});
  EXPECT_EQ(s.max, 1000000);
  EXPECT_EQ(s.p50, 1);
}

// Printed tables of the median's distribution-free 95 % interval (one-based): 6 -> 1..6, 10 -> 2..9, 20 -> 6..15,
// 100 -> 40..61.
TEST(MedianInterval, RanksAreThoseOfThePrintedTables) {
  EXPECT_FALSE(median_interval_ranks(5));
  EXPECT_EQ(median_interval_ranks(6), (Ranks{0, 5}));
  EXPECT_EQ(median_interval_ranks(10), (Ranks{1, 8}));
  EXPECT_EQ(median_interval_ranks(20), (Ranks{5, 14}));
  EXPECT_EQ(median_interval_ranks(100), (Ranks{39, 60}));
}

// For large n the interval is n/2 -+ 1.96 sqrt(n)/2.
TEST(MedianInterval, LargeCountsFollowTheNormalApproximation) {
  const auto ranks = median_interval_ranks(1'000'000);
  ASSERT_TRUE(ranks);
  EXPECT_NEAR(static_cast<double>(ranks->low), 499'020, 2);
  EXPECT_NEAR(static_cast<double>(ranks->high), 500'979, 2);
}

TEST(Summary, ScalingChangesEveryValueAndNotTheCount) {
  const auto s = summarise(std::vector<double>{1000, 2000, 3000, 4000, 5000, 6000}).scaled(1e-3);
  EXPECT_EQ(s.n, 6U);
  EXPECT_DOUBLE_EQ(s.p50, 3);
  EXPECT_DOUBLE_EQ(s.max, 6);
  EXPECT_DOUBLE_EQ(s.mean, 3.5);
  ASSERT_TRUE(s.median_interval);
  EXPECT_DOUBLE_EQ(s.median_interval->high, 6);
}

TEST(Samples, WhatDoesNotFitIsCountedAndNothingMoves) {
  Samples samples(2);
  const auto* storage = samples.values().data();
  for (int i = 0; i < 5; ++i) samples.add(i);
  EXPECT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples.lost(), 3U);
  EXPECT_EQ(samples.values().data(), storage);
  samples.clear();
  EXPECT_EQ(samples.size(), 0U);
  EXPECT_EQ(samples.lost(), 0U);
}

}  // namespace
}  // namespace marrow::measure
