// SPDX-License-Identifier: Apache-2.0
// Verdicts on samples whose answer is known, and what is refused.
#include "measure/compare.h"

#include <gmock/gmock.h>

#include <functional>
#include <random>

#include "measure/compare_text.h"
#include "measure/csv.h"
#include "measure/sample_records.h"
#include "util/error.h"

namespace marrow::measure {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Process runs of a skewed time: `scale` is what a change does to it, each process has a level of its own.
Record measured(double scale, std::size_t runs, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> level(1.0, 0.01);
  std::gamma_distribution<double> tail(2.0, 0.05);
  std::vector<Record> records;
  for (std::size_t r = 0; r < runs; ++r) {
    const double mine = level(random) * scale;
    std::vector<double> samples;
    for (int i = 0; i < 500; ++i) samples.push_back(mine * (1 + tail(random)));
    auto record = sample_record();
    record.metrics = {{"issue", "us", Kind::kHostLane, summarise(samples), {}}};
    records.push_back(std::move(record));
  }
  return pooled(records);
}

Document one(Record record) {
  return {.environments = {read_environment()}, .records = {std::move(record)}};
}

std::string refusal(const Document& a, const Document& b) {
  try {
    (void)compare(a, b);
  } catch (const util::Error& problem) {
    EXPECT_EQ(problem.kind(), util::ErrorKind::kUsage);
    EXPECT_FALSE(problem.hint().empty());
    return problem.what();
  }
  return "compared";
}

TEST(Compare, OtherExperimentsKindsOfTimeAndUnitsAreRefused) {
  const auto a = one(sample_record());
  const auto changed = [](const std::function<void(Record&)>& change) {
    auto record = sample_record();
    change(record);
    return one(record);
  };
  EXPECT_THAT(refusal(a, changed([](Record& r) { r.experiment = "ordering"; })), HasSubstr("different experiments"));
  EXPECT_THAT(refusal(a, changed([](Record& r) { r.lane = "gpu"; })), HasSubstr("kinds of time are not compared"));
  EXPECT_THAT(refusal(a, changed([](Record& r) { r.nic = "mlx5_0"; })), HasSubstr("kinds of time are not compared"));
  const auto modelled = [](Record& r) {
    r.lane = "none";
    r.nic = "model:cx7-200g";
  };
  EXPECT_THAT(refusal(a, changed(modelled)),
              HasSubstr("host lanes on cx7-sim, engine auto and measured with the model"));
  EXPECT_THAT(refusal(a, changed([](Record& r) { r.metrics[0].kind = Kind::kGpu; })),
              HasSubstr("kinds of time are not compared"));
  EXPECT_THAT(refusal(a, changed([](Record& r) { r.metrics[0].unit = "x"; })), HasSubstr("is in us and in x"));
}

TEST(Compare, AModelThatWasWaivedForWantOfAProfileIsNoOtherKind) {
  auto waived = sample_record();
  waived.lane = "none";
  waived.status = Status::kWaived;
  auto modelled = sample_record();
  modelled.lane = "none";
  modelled.nic = "model:cx7-200g";
  EXPECT_EQ(refusal(one(waived), one(modelled)), "compared");
  EXPECT_FALSE(compare(one(waived), one(modelled)).any_worse());
  EXPECT_TRUE(compare(one(modelled), one(waived)).any_worse());
}

TEST(Compare, ARowThatNoLongerPassesOrIsMissingIsWorse) {
  auto failed = sample_record();
  fail(failed, "payload 3 differs");
  auto comparison = compare(one(sample_record()), one(failed));
  EXPECT_TRUE(comparison.any_worse());
  EXPECT_THAT(comparison.losses.at(0), HasSubstr("payload 3 differs"));
  auto other = sample_record();
  other.policy = "none";
  comparison = compare(one(sample_record()), one(other));
  EXPECT_THAT(comparison.losses.at(0), HasSubstr("missing in the second"));
}

TEST(Compare, TenPercentSlowerIsWorseAndTheOtherWayRoundBetter) {
  for (const std::size_t runs : {1U, 3U}) {
    const auto a = one(measured(1.0, runs, 1));
    const auto b = one(measured(1.1, runs, 2));
    EXPECT_EQ(compare(a, b).metrics.at(0).verdict, Verdict::kWorse) << runs;
    EXPECT_EQ(compare(b, a).metrics.at(0).verdict, Verdict::kBetter) << runs;
    EXPECT_NEAR(*compare(a, b).metrics.at(0).ratio, 1.1, 0.04);
  }
}

TEST(Compare, ARunAgainstOneLikeItIsNoiseAtLeast95TimesInAHundred) {
  int noise = 0;
  for (unsigned i = 0; i < 100; ++i) {
    const auto comparison = compare(one(measured(1.0, 3, 2 * i + 100)), one(measured(1.0, 3, 2 * i + 101)));
    noise += comparison.metrics.at(0).verdict == Verdict::kNoise ? 1 : 0;
  }
  EXPECT_GE(noise, 95);
}

TEST(Compare, ADifferenceBelowTheLeastIsNoiseHoweverSure) {
  const auto a = one(measured(1.0, 1, 1));
  auto b = a;
  b.records[0].metrics[0].summary = a.records[0].metrics[0].summary.scaled(1.02);
  EXPECT_EQ(compare(a, b).metrics.at(0).verdict, Verdict::kNoise);
  b.records[0].metrics[0].summary = a.records[0].metrics[0].summary.scaled(1.3);
  EXPECT_EQ(compare(a, b).metrics.at(0).verdict, Verdict::kWorse);
}

TEST(Compare, AStepOfACoarseClockIsNoise) {
  const auto on_a_grid = [](double low, int of_ten) {  // steps of 2.9 ns; so many of ten samples one step higher
    std::vector<double> samples;
    for (int i = 0; i < 400; ++i) samples.push_back(low + (i % 10 < of_ten ? 0.0029 : 0));
    auto record = sample_record();
    record.metrics = {{"issue", "us", Kind::kHostLane, summarise(samples), {}}};
    return one(record);
  };
  EXPECT_EQ(compare(on_a_grid(0.0261, 2), on_a_grid(0.0261, 8)).metrics.at(0).verdict, Verdict::kNoise);
  EXPECT_EQ(compare(on_a_grid(0.0261, 2), on_a_grid(0.0319, 2)).metrics.at(0).verdict, Verdict::kWorse);
}

TEST(Compare, AJumpInsideRunsIsNoDifferenceBetweenThem) {
  const auto jumping = [](double share) {  // a put that takes 1.3 us or 25, in turns of some stretches
    std::vector<double> samples;
    for (int i = 0; i < 400; ++i) samples.push_back((i / 40) % 10 < share * 10 ? 25.0 : 1.3);
    auto record = sample_record();
    record.metrics = {{"put+completion", "us", Kind::kCx7Sim, summarise(samples), {}}};
    return one(pooled(std::array{record, record, record}));
  };
  const auto compared = compare(jumping(0.4), jumping(0.6)).metrics.at(0);
  EXPECT_GT(*compared.ratio, 10);
  EXPECT_EQ(compared.verdict, Verdict::kNoise);
}

TEST(Compare, ARateIsBetterWhenItGrowsAndAClockIsNeither) {
  const auto with_unit = [](double scale, const char* unit) {
    auto record = measured(scale, 3, 7);
    record.metrics[0].unit = unit;
    return one(record);
  };
  EXPECT_EQ(compare(with_unit(1, "M msg/s"), with_unit(1.5, "M msg/s")).metrics.at(0).verdict, Verdict::kBetter);
  EXPECT_EQ(compare(with_unit(1, "GB/s"), with_unit(0.5, "GB/s")).metrics.at(0).verdict, Verdict::kWorse);
  EXPECT_EQ(compare(with_unit(1, "MHz"), with_unit(0.5, "MHz")).metrics.at(0).verdict, Verdict::kDiffers);
}

TEST(Compare, CountedThingsDifferExactly) {
  const auto counted = [](double value) {
    auto record = sample_record();
    record.metrics = {{"registers, code dormant", "registers", Kind::kGpu, summarise(std::array{value}), {}}};
    return one(record);
  };
  EXPECT_EQ(compare(counted(32), counted(32)).metrics.at(0).verdict, Verdict::kNoise);
  EXPECT_EQ(compare(counted(32), counted(33)).metrics.at(0).verdict, Verdict::kWorse);
  EXPECT_EQ(compare(counted(32), counted(33)).metrics.at(0).test, Method::kExact);
}

TEST(Compare, ASingleSampleIsNotTested) {
  auto record = sample_record();
  record.metrics = {{"bulk carried", "M msg/s", Kind::kCx7Sim, summarise(std::array{3.0}), {}}};
  auto other = record;
  other.metrics[0].summary = summarise(std::array{1.0});
  EXPECT_EQ(compare(one(record), one(other)).metrics.at(0).verdict, Verdict::kUntested);
}

TEST(Compare, WhatCanBeBelowZeroIsComparedByDifference) {
  const auto loss = [](double shift) {
    auto record = measured(1.0, 3, 11);
    auto& s = record.metrics[0].summary;
    record.metrics[0].unit = "%";
    for (auto& run : s.runs) run.p50 += shift - 1.1;
    s.p50 += shift - 1.1;
    return one(record);
  };
  const auto c = compare(loss(0), loss(5)).metrics.at(0);
  EXPECT_FALSE(c.ratio);
  EXPECT_EQ(c.verdict, Verdict::kWorse);
}

TEST(Compare, AnotherMachineOrBuildIsNoted) {
  auto b = one(sample_record());
  b.environments[0].build_type = "some other";
  b.records[0].counts.totals[2].total += 8;
  const auto text = comparison_text(compare(one(sample_record()), b), {});
  EXPECT_THAT(text, HasSubstr("another build type"));
  EXPECT_THAT(text, HasSubstr("fences per operation: 2 and 3"));
}

TEST(CompareText, NamesTheTestAndTheStatisticAndHidesNoiseUnlessAsked) {
  const auto comparison = compare(one(measured(1.0, 3, 1)), one(measured(1.0, 3, 2)));
  const auto text = comparison_text(comparison, {});
  EXPECT_THAT(text, Not(HasSubstr("B/A of p50")));
  EXPECT_THAT(text, HasSubstr("Student's t over the medians of the process runs"));
  EXPECT_THAT(text, HasSubstr("1 metrics: 1 noise"));
  EXPECT_THAT(comparison_text(comparison, {.all = true}), HasSubstr("B/A of p50"));
}

TEST(Csv, QuotesWhatNeedsItAndHasALineAMetric) {
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"x\""), "\"say \"\"x\"\"\"");
  const auto text = to_csv(sample_document());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);  // titles, two metrics, one waived row
  EXPECT_THAT(text, HasSubstr("p50 ci95 low"));
  EXPECT_THAT(text, HasSubstr("waived"));
}

}  // namespace
}  // namespace marrow::measure
