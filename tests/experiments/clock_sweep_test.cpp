// SPDX-License-Identifier: Apache-2.0
// The sweep on a model of a GPU whose times are C/f + B: the fit gives both back, and a clock that does not follow is
// no row.
#include "experiments/sm_clock/clock_sweep.h"

#include <gmock/gmock.h>

#include <set>

#include "experiments/sm_clock/sm_clock.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What the paper's Table 6 says of GDAKI: issue 2929 cycles and 0.27 us, put+flush 5683 cycles and 10.3 us.
struct Model {
  unsigned locked = 0;
  double follows = 1;  // share of the clock asked for that it runs at
  std::vector<unsigned> asked;

  ClockBench bench() {
    return {.lock =
                [this](unsigned mhz) {
                  locked = mhz;
                  asked.push_back(mhz);
                },
            .measured_mhz = [this] { return locked * follows; },
            .puts =
                [this] {
                  PutTimes times(5);
                  for (int i = 0; i < 5; ++i) {
                    times.issue.add(1e3 * (2929.0 / locked + 0.27));
                    times.completion.add(1e3 * (5683.0 / locked + 10.3));
                  }
                  return times;
                }};
  }
};

double p50_of(const measure::Record& record, const char* name) {
  const auto* metric = measure::metric_of(record, name);
  return metric == nullptr ? -1 : metric->summary.p50;
}

TEST(SmClock, WithoutTheUsersWordItIsWaivedWithWhatWouldLetItRun) {
  Context context;
  measure::Record record;
  try {
    sm_clock().run(context, {}, record);
    FAIL();
  } catch (const util::Error& problem) {
    EXPECT_EQ(problem.kind(), util::ErrorKind::kWaived);
    EXPECT_THAT(problem.what(), HasSubstr("was not told to"));
    EXPECT_THAT(problem.hint(), HasSubstr("--lane gpu --lock-clocks"));
  }
}

TEST(ClocksOfSweep, RefusesAGpuWithoutClocks) {
  EXPECT_THROW((void)clocks_of_sweep({}), util::Error);
}

TEST(ClocksOfSweep, AreEvenInOneOverFFromTheHighestToThePapersShareOfIt) {
  std::vector<unsigned> there;
  for (unsigned mhz = 1845; mhz >= 300; --mhz) there.push_back(mhz);
  EXPECT_THAT(clocks_of_sweep(there), ElementsAre(1845, 1202, 891, 708, 588, 502));
  EXPECT_THAT(clocks_of_sweep(std::vector<unsigned>{1980, 500}), ElementsAre(1980, 500));
}

TEST(SweepClocks, AClockThatDoesNotFollowEndsTheRowWithBothClocks) {
  Model model{.follows = 1.5};
  try {
    (void)sweep_clocks(std::vector<unsigned>{1000}, 1, model.bench());
    FAIL();
  } catch (const util::Error& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("was locked to 1000 MHz and runs at 1500 MHz"));
  }
}

TEST(SweepClocks, EachPassHasEveryClockInAnotherOrder) {
  Model model;
  const std::vector<unsigned> clocks{1800, 900, 600};
  ASSERT_EQ(sweep_clocks(clocks, 3, model.bench()).size(), 9U);
  std::set<std::vector<unsigned>> orders;
  for (std::size_t pass = 0; pass < 3; ++pass) {
    std::vector<unsigned> order(model.asked.begin() + static_cast<std::ptrdiff_t>(3 * pass),
                                model.asked.begin() + static_cast<std::ptrdiff_t>(3 * pass + 3));
    orders.insert(order);
    std::sort(order.begin(), order.end(), std::greater<>());
    EXPECT_EQ(order, clocks);
  }
  EXPECT_EQ(orders.size(), 3U);
}

TEST(AddSweep, TheFitGivesBackWhatTheModelIsMadeOf) {
  Model model;
  measure::Record record;
  add_sweep(record, measure::Kind::kCx7Sim, sweep_clocks(std::vector<unsigned>{1800, 900, 600}, 3, model.bench()));
  EXPECT_NEAR(p50_of(record, "issue: C"), 2929, 1e-6);
  EXPECT_NEAR(p50_of(record, "issue: B"), 0.27, 1e-9);
  EXPECT_NEAR(p50_of(record, "put+completion: C"), 5683, 1e-6);
  EXPECT_NEAR(p50_of(record, "put+completion: R2"), 100, 1e-6);
  EXPECT_NEAR(p50_of(record, "issue at 900 MHz"), 2929.0 / 900 + 0.27, 1e-9);
  EXPECT_EQ(measure::metric_of(record, "issue at 900 MHz")->summary.n, 15U);
  EXPECT_EQ(measure::metric_of(record, "issue: C")->summary.n, 3U);
  EXPECT_EQ(record.counts.operations, 45U);
}

}  // namespace
}  // namespace marrow::experiments
