// SPDX-License-Identifier: Apache-2.0
// Fault rules as people write them: what makes no sense is refused in one sentence that says where and what to try.
#include "cx7/fabric/fault_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "util/error.h"

namespace marrow::cx7 {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

TEST(FaultPlan, RefusesWhatMakesNoSense) {
  for (const auto* text : {"los rate=1%",
                           "loss",
                           "loss rate",
                           "loss rate=",
                           "loss rate=101%",
                           "loss rate=-1",
                           "loss rate=nan",
                           "loss rate=1% rate=2%",
                           "loss rate=1% depth=3",
                           "loss rate=1%x",
                           "loss rate=1% of=acks",
                           "delay rate=1%",
                           "delay rate=1% time=5",
                           "delay rate=1% time=2h",
                           "delay rate=1% time=1e300s",
                           "reorder rate=1% depth=0",
                           "reorder rate=1% depth=9999999999",
                           "down at=1s",
                           "down at=1s for=1s rate=1%",
                           "seed",
                           "seed -1",
                           "seed 1 2",
                           "seed 99999999999999999999",
                           "=",
                           "loss=1%",
                           "\xff\xfe"}) {
    try {
      (void)parse_faults(std::string("seed 1\n") + text);
      ADD_FAILURE() << "took '" << text << "'";
    } catch (const util::Error& error) {
      EXPECT_EQ(error.exit_code(), 2) << text;
      EXPECT_THAT(error.what(), HasSubstr("rule 2")) << text;
      EXPECT_FALSE(error.hint().empty()) << text;
    }
  }
}

TEST(FaultPlan, RefusesAFileThatIsNotThere) {
  EXPECT_THROW((void)read_faults("@/nowhere/faults"), util::Error);
  EXPECT_THROW((void)read_faults("@"), util::Error);
  EXPECT_THROW((void)read_faults("@/"), util::Error);
}

TEST(FaultPlan, ReadsEveryRule) {
  const auto plan = parse_faults(
      "# what goes wrong\n"
      "seed 7\n\n"
      "loss rate=1% of=answers   # the usual\n"
      "duplicate rate=0.25; reorder rate=2% depth=3\n"
      "delay rate=1e-3 time=1.5ms\r\n"
      "corrupt rate=0\n"
      "black-hole at=1s for=500ms\n"
      "down at=0ns for=20us");
  EXPECT_EQ(plan.seed, 7u);
  ASSERT_EQ(plan.rules.size(), 7u);
  EXPECT_DOUBLE_EQ(plan.rules[0].rate, 0.01);
  EXPECT_EQ(plan.rules[0].of, FaultOf::kAnswers);
  EXPECT_DOUBLE_EQ(plan.rules[1].rate, 0.25);
  EXPECT_EQ(plan.rules[2].depth, 3u);
  EXPECT_EQ(plan.rules[3].time, std::chrono::microseconds(1500));
  EXPECT_EQ(plan.rules[4].kind, FaultKind::kCorrupt);
  EXPECT_EQ(plan.rules[5].at, milliseconds(1000));
  EXPECT_EQ(plan.rules[5].time, milliseconds(500));
  EXPECT_EQ(plan.rules[6].kind, FaultKind::kDown);
  EXPECT_TRUE(parse_faults("").rules.empty());
}

TEST(FaultPlan, ReadsAFile) {
  const std::string name = "fault-plan-test-" + std::to_string(::getpid());
  std::ofstream(name) << "loss rate=1%\n";
  EXPECT_EQ(read_faults("@" + name).rules.size(), 1u);
  std::remove(name.c_str());
}

}  // namespace
}  // namespace marrow::cx7
