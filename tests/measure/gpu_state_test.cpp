// SPDX-License-Identifier: Apache-2.0
// What a GPU did while a row ran: what moved or slowed is said, what was not told stays empty, JSON gives back what it
// got.
#include "measure/gpu_state.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace marrow::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

GpuState seen(std::vector<double> clocks) {
  GpuState state{.looks = clocks.size()};
  for (const auto mhz : clocks) state.sm_mhz.add(mhz);
  return state;
}

TEST(Course, KeepsTheFirstTheLastAndTheEndsAndNothingOfNoLook) {
  Course course;
  course.add(std::nullopt);
  EXPECT_FALSE(course.before.has_value());
  for (const double value : {1500.0, 1980.0, 1200.0, 1600.0}) course.add(value);
  EXPECT_EQ(course.before, 1500);
  EXPECT_EQ(course.least, 1200);
  EXPECT_EQ(course.most, 1980);
  EXPECT_EQ(course.after, 1600);
}

TEST(GpuState, AClockThatMovedByMoreThanTwoPercentIsAWarning) {
  EXPECT_THAT(warnings_of(seen({1980, 1965})), IsEmpty());
  EXPECT_THAT(warnings_of(GpuState{}), IsEmpty());
  EXPECT_THAT(warnings_of(seen({1980, 1200, 1980})),
              ElementsAre(HasSubstr("moved between 1200 and 1980 MHz while the row ran, by NVML's 3 looks")));
}

TEST(GpuState, WhatHeldTheClockDownIsAWarning) {
  GpuState state = seen({1980});
  state.slowed_by = {"software power cap", "hardware slowdown"};
  EXPECT_THAT(warnings_of(state), ElementsAre(HasSubstr("held down while the row ran: software power cap, hardware")));
}

TEST(GpuState, OfTwoProcessesIsTheWiderOfBoth) {
  auto first = seen({1980, 1980});
  auto second = seen({1500});
  second.slowed_by = {"sync boost"};
  const auto both = pooled(first, second);
  EXPECT_EQ(both.looks, 3U);
  EXPECT_EQ(both.sm_mhz.before, 1980);
  EXPECT_EQ(both.sm_mhz.least, 1500);
  EXPECT_EQ(both.sm_mhz.after, 1500);
  EXPECT_THAT(both.slowed_by, ElementsAre("sync boost"));
}

TEST(GpuState, JsonGivesBackWhatItGot) {
  auto state = seen({1980, 1965});
  state.power_limit_w = 700;
  state.slowed_by = {"software power cap"};
  const auto back = gpu_state_from_json(to_json(state));
  EXPECT_EQ(to_json(back), to_json(state));
  EXPECT_TRUE(to_json(state)["temperature_c"]["before"].is_null());
  EXPECT_THROW((void)gpu_state_from_json({{"looks", 1}}), nlohmann::json::exception);
}

}  // namespace
}  // namespace marrow::measure
