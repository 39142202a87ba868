// SPDX-License-Identifier: Apache-2.0
// The experiment on host lanes: every descriptor is seen by its worker, and each row counts what its hand-off does.
#include <gmock/gmock.h>

#include <map>

#include "experiments/proxy_enqueue/proxy_enqueue.h"
#include "measure/lane_clock.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

measure::Record run_row(const std::string& hand_off) {
  const auto experiment = proxy_enqueue();
  const measure::LaneClock clock;
  Context context{.iterations = 512, .warmup = 128, .clock = &clock};
  const Point point{"mini-proxy", hand_off, {}};
  auto record = blank_record(experiment, point, context);
  experiment.run(context, point, record);
  return record;
}

TEST(ProxyEnqueue, RefusesAHandOffThatItDoesNotHave) {
  EXPECT_THROW(run_row("no such hand-off"), util::Error);
}

TEST(ProxyEnqueue, HasARowForEachStepAndTheBaselineFirst) {
  std::vector<std::string> rows;
  for (const auto& variant : proxy_enqueue().variants) rows.push_back(variant.policy);
  EXPECT_THAT(rows, ::testing::ElementsAre("baseline", "own-ring", "cached-credit", "phase-mark", "tuned"));
}

TEST(ProxyEnqueue, CountsWhatEachStepTakesAway) {
  using Row = std::map<std::string, std::uint64_t>;
  const auto counts_of = [](const measure::Record& record) {
    Row row;
    for (const auto& count : record.counts.totals) row[count.name] = count.total / record.counts.operations;
    return row;
  };
  const auto row = [](std::uint64_t atomics, std::uint64_t reads, std::uint64_t stores, std::uint64_t releases) {
    return Row{{"atomics", atomics}, {"credit_reads", reads}, {"gpu_fences", 0},
               {"system_fences", 0}, {"stores", stores},      {"release_stores", releases}};
  };
  EXPECT_EQ(counts_of(run_row("baseline")), row(1, 1, 2, 1));
  EXPECT_EQ(counts_of(run_row("own-ring")), row(0, 1, 2, 1));
  EXPECT_EQ(counts_of(run_row("cached-credit")), row(0, 0, 2, 1));
  EXPECT_EQ(counts_of(run_row("phase-mark")), row(0, 0, 1, 1));
  EXPECT_EQ(counts_of(run_row("tuned")), row(0, 0, 1, 0));
}

TEST(ProxyEnqueue, EveryRowIsVerifiedAndHasTheBaselineBesideIt) {
  const auto tuned = run_row("tuned");
  EXPECT_TRUE(tuned.verified);
  ASSERT_EQ(tuned.metrics.size(), 3U);
  EXPECT_EQ(tuned.metrics[0].name, "enqueue");
  EXPECT_EQ(tuned.metrics[0].summary.n, 512U);
  EXPECT_EQ(tuned.metrics[2].unit, "x");
  EXPECT_EQ(tuned.metrics[2].summary.n, 4U);
  EXPECT_EQ(run_row("baseline").metrics.size(), 2U);
}

}  // namespace
}  // namespace marrow::experiments
