// SPDX-License-Identifier: Apache-2.0
// Spread, outliers, stretches of time, and several process runs as one result.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "measure/record.h"
#include "measure/sample_records.h"
#include "util/error.h"

namespace marrow::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<double> up_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Pooled, NothingAndRunsWithoutSamplesAreRefused) {
  EXPECT_THROW((void)pooled(std::span<const Summary>{}), util::Error);
  auto run = summarise(up_to(10));
  run.samples.clear();
  EXPECT_THROW((void)pooled(std::array{run, run}), util::Error);
  EXPECT_THROW((void)pooled(std::span<const Record>{}), util::Error);
}

TEST(Summarise, MadIsTheMedianOfDistances) {
  EXPECT_DOUBLE_EQ(*summarise(std::array{1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0}).mad, 1.0);
}

TEST(Summarise, OutliersAreCountedAndStayInEveryStatistic) {
  auto values = up_to(100);
  values.push_back(1000);
  const auto s = summarise(values);
  EXPECT_EQ(s.outliers, 1U);
  EXPECT_EQ(s.max, 1000);
  EXPECT_EQ(s.n, 101U);
}

TEST(Summarise, StretchesFollowTheOrderOfTime) {
  std::vector<double> rising(400);
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i] = static_cast<double>(i / 20);
  const auto blocks = summarise(rising).blocks;
  ASSERT_EQ(blocks.size(), 20U);
  EXPECT_EQ(blocks.front(), 0);
  EXPECT_EQ(blocks.back(), 19);
}

TEST(Summarise, FewSamplesHaveNoStretches) {
  EXPECT_THAT(summarise(up_to(24)).blocks, IsEmpty());
  EXPECT_EQ(summarise(up_to(25)).blocks.size(), 5U);
}

TEST(Summarise, AnotherUnitScalesEverything) {
  const auto s = summarise(up_to(100)).scaled(0.5);
  EXPECT_EQ(s.runs.at(0).p50, 25);
  EXPECT_EQ(s.samples.at(1), 1);
  EXPECT_EQ(*s.mad, 12.5);
  EXPECT_EQ(s.blocks.at(0), 1.5);
}

TEST(Pooled, PercentilesAreOfAllSamplesAndTheIntervalOfTheRunsMedians) {
  const std::array runs{summarise(std::array{9.0, 10.0, 11.0}), summarise(std::array{10.0, 11.0, 12.0}),
                        summarise(std::array{11.0, 12.0, 13.0})};
  const auto s = pooled(runs);
  EXPECT_EQ(s.n, 9U);
  EXPECT_EQ(s.min, 9);
  EXPECT_EQ(s.max, 13);
  EXPECT_EQ(s.p50, 11);
  EXPECT_EQ(s.interval_by, IntervalBy::kRuns);
  EXPECT_THAT(s.runs, ElementsAre(ProcessRun{3, 10}, ProcessRun{3, 11}, ProcessRun{3, 12}));
  ASSERT_TRUE(s.median_interval);
  // By logarithms: mean 2.39513, error of the mean 0.05265, 4.303 of which are 0.22655.
  EXPECT_NEAR(s.median_interval->low, std::exp(2.39513 - 0.22655), 2e-3);
  EXPECT_NEAR(s.median_interval->high, std::exp(2.39513 + 0.22655), 2e-3);
}

TEST(Pooled, WhatIsNotAlwaysAboveZeroHasItsIntervalAsItIs) {
  const std::array runs{summarise(std::array{-1.0}), summarise(std::array{0.0}), summarise(std::array{1.0})};
  const auto s = pooled(runs);
  ASSERT_TRUE(s.median_interval);
  EXPECT_NEAR(s.median_interval->low, -4.303 / std::sqrt(3.0), 1e-3);
  EXPECT_NEAR(s.median_interval->high, 4.303 / std::sqrt(3.0), 1e-3);
}

TEST(Pooled, TheIntervalOfATimeDoesNotGoBelowZero) {
  const std::array runs{summarise(std::array{1.3}), summarise(std::array{27.0}), summarise(std::array{26.0})};
  EXPECT_GT(pooled(runs).median_interval->low, 0);
}

TEST(Pooled, StretchesOfEveryRunAreAmongThoseThatAreKept) {
  const std::vector<double> low(100, 1.0);
  const std::vector<double> high(100, 2.0);
  const auto blocks = pooled(std::array{summarise(low), summarise(high)}).blocks;
  EXPECT_EQ(blocks.size(), 20U);
  EXPECT_EQ(std::count(blocks.begin(), blocks.end(), 1.0), 10);
}

TEST(PooledRecord, OneFailedRunFailsTheRowAndSaysWhichAndKeepsTheNumbers) {
  auto bad = sample_record();
  fail(bad, "payload 3 differs");
  const auto record = pooled(std::array{sample_record(), bad, sample_record()});
  EXPECT_EQ(record.status, Status::kFailed);
  EXPECT_EQ(record.reason, "run 2: payload 3 differs");
  EXPECT_EQ(record.runs, 3U);
  EXPECT_EQ(record.metrics.at(0).summary.n, 24U);
  EXPECT_EQ(record.counts.operations, 24U);
  EXPECT_EQ(record.counts.totals.at(2).total, 48U);
}

TEST(PooledRecord, ARunThatWasWaivedIsSaidAndNotCounted) {
  auto waived = sample_record();
  waived.status = Status::kWaived;
  waived.reason = "interrupted";
  waived.metrics.clear();
  const auto record = pooled(std::array{sample_record(), waived});
  EXPECT_EQ(record.status, Status::kPassed);
  EXPECT_EQ(record.runs, 1U);
  EXPECT_THAT(record.warnings.back(), HasSubstr("1 of 2 runs"));
  EXPECT_EQ(pooled(std::array{waived, waived}).status, Status::kWaived);
}

TEST(PooledRecord, OneRunIsItself) {
  auto bad = sample_record();
  fail(bad, "payload 3 differs");
  EXPECT_EQ(pooled(std::array{bad}).reason, "payload 3 differs");
}

TEST(PooledRecord, AMetricThatOnlySomeRunsHaveIsKept) {
  auto other = sample_record();
  other.metrics.pop_back();
  other.metrics.push_back(sample_metric("stale WQEs", Kind::kCx7Sim));
  const auto record = pooled(std::array{sample_record(), other});
  ASSERT_EQ(record.metrics.size(), 3U);
  EXPECT_EQ(record.metrics[0].summary.runs.size(), 2U);
  EXPECT_EQ(record.metrics[2].summary.runs.size(), 1U);
}

}  // namespace
}  // namespace marrow::measure
