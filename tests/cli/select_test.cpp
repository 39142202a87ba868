// SPDX-License-Identifier: Apache-2.0
// From names to points. The refusals are in run_test.cpp.
#include "cli/select.h"

#include <gmock/gmock.h>

#include "cli/trial_experiments.h"

namespace marrow::cli {
namespace {

const auto kAll = experiments::trial_experiments();

TEST(Select, VariantsTimesSweepsInOrder) {
  const auto tasks = select(kAll, {.experiments = {"passes"}, .axes = {"bytes=8,16"}});
  ASSERT_EQ(tasks.size(), 6U);
  EXPECT_EQ(tasks[0].point.policy, "fast");
  EXPECT_EQ(tasks[0].point.number("bytes"), 8);
  EXPECT_EQ(tasks[1].point.number("bytes"), 16);
  EXPECT_EQ(tasks[5].point.text("payload"), "pointer");
}

TEST(Select, AllMeansEachOnce) {
  const auto once = select(kAll, {.experiments = {"all"}});
  const auto twice = select(kAll, {.experiments = {"passes", "all", "passes"}});
  EXPECT_EQ(once.size(), twice.size());
}

TEST(Point, AnAxisThatIsNotThereOrOfTheOtherTypeIsRefused) {
  const auto point = select(kAll, {.experiments = {"passes"}})[0].point;
  EXPECT_THROW((void)point.number("payload"), util::Error);
  EXPECT_THROW((void)point.text("nothing"), util::Error);
}

}  // namespace
}  // namespace marrow::cli
