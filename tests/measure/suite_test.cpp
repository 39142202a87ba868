// SPDX-License-Identifier: Apache-2.0
// The catalogue is whole, every shape can be read, and shapes speak only of the kinds of time that they name.
#include "measure/suite.h"

#include <gmock/gmock.h>

#include <set>

#include "measure/paper.h"
#include "measure/sample_records.h"
#include "util/error.h"

namespace marrow::measure {
namespace {

using ::testing::HasSubstr;

TEST(Suite, AnUnknownNameIsRefused) {
  EXPECT_THROW((void)suite_named("papr"), util::Error);
}

TEST(Suite, EachExperimentIsThereOnceWithAQuestionAndARunOrAReason) {
  std::set<std::string> ids;
  std::size_t of_paper = 0;
  for (const auto& entry : suite_named("paper").entries) {
    EXPECT_TRUE(ids.insert(entry.id).second) << entry.id;
    EXPECT_FALSE(entry.question.empty()) << entry.id;
    EXPECT_EQ(entry.absent.empty(), entry.would.empty()) << entry.id;
    EXPECT_EQ(entry_of(suite_named("paper"), entry.id)->question, entry.question);
    of_paper += entry.own ? 0 : 1;
  }
  EXPECT_EQ(of_paper, 33U);
}

TEST(Suite, WhatThePaperDidAndPrintedStandsBesideEachOfItsExperiments) {
  for (const auto& entry : suite_named("paper").entries) {
    const bool of_connections = entry.id.starts_with("connections-");
    if (entry.own || of_connections) continue;
    EXPECT_FALSE(entry.setup.empty()) << entry.id;
    EXPECT_FALSE(printed_values(entry.id).empty()) << entry.id;
  }
  EXPECT_EQ(entry_of(suite_named("paper"), "single-opp"), nullptr);
}

TEST(Suite, EveryShapeCanBeReadAndIsOnItsOwnExperiment) {
  for (const auto& entry : suite_named("paper").entries) {
    for (const auto& shape : entry.shapes) {
      const auto statement = parse_statement(shape.expect);
      EXPECT_EQ(statement.left.experiment, entry.id);
      EXPECT_FALSE(shape.kinds.empty()) << shape.expect;
    }
  }
}

SuiteEntry entry_with(std::string expect, std::vector<Kind> kinds) {
  return {.id = "single-op", .shapes = {{"a shape", std::move(expect), std::move(kinds)}}};
}

TEST(Judge, AgreesDiffersOrCannotSay) {  // the sample's issue is 0.5 us on host lanes
  const auto document = sample_document();
  const auto judged = [&](const char* expect, std::vector<Kind> kinds) {
    return judge(entry_with(expect, std::move(kinds)), document).at(0);
  };
  EXPECT_EQ(judged("single-op.issue.p50 <= 1us", {Kind::kHostLane}).agreement, Agreement::kAgrees);
  EXPECT_EQ(judged("single-op.issue.p50 >= 1us", {Kind::kHostLane}).agreement, Agreement::kDiffers);
  const auto other_kind = judged("single-op.issue.p50 <= 1us", {Kind::kGpu});
  EXPECT_EQ(other_kind.agreement, Agreement::kCannotSay);
  EXPECT_THAT(other_kind.told, HasSubstr("another kind of time"));
  EXPECT_THAT(judged("single-op[lane=gpu].issue.p50 <= 1us", {Kind::kGpu}).told, HasSubstr("not measured here"));
}

}  // namespace
}  // namespace marrow::measure
