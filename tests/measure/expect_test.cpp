// SPDX-License-Identifier: Apache-2.0
// Thresholds: what is refused, and that each operator decides as it says.
#include "measure/expect.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "measure/sample_records.h"
#include "util/error.h"

namespace marrow::measure {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    (void)check(parse_statement(text), sample_document());
  } catch (const util::Error& problem) {
    EXPECT_EQ(problem.kind(), util::ErrorKind::kUsage) << text;
    return problem.what();
  }
  return "accepted: " + text;
}

bool held(const std::string& text) {
  const auto rows = check(parse_statement(text), sample_document());
  return !rows.empty() && std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.held; });
}

TEST(Expect, WhatCannotBeReadIsRefused) {
  EXPECT_THAT(refusal(""), HasSubstr("has no <=, <, >= or >"));
  EXPECT_THAT(refusal("single-op.issue.p50"), HasSubstr("has no <=, <, >= or >"));
  EXPECT_THAT(refusal("single-op <= 1us"), HasSubstr("EXPERIMENT.METRIC.STATISTIC"));
  EXPECT_THAT(refusal("single-op.p50 <= 1us"), HasSubstr("EXPERIMENT.METRIC.STATISTIC"));
  EXPECT_THAT(refusal("single-op.issue.p51 <= 1us"), HasSubstr("no statistic 'p51'; known: p50"));
  EXPECT_THAT(refusal("single-op.issue.p50 <="), HasSubstr("ends before its threshold"));
  EXPECT_THAT(refusal("single-op.issue.p50 <= 1"), HasSubstr("has no unit"));
  EXPECT_THAT(refusal("single-op.issue.p50 <= 1 furlong"), HasSubstr("unknown unit 'furlong'; known: us"));
  EXPECT_THAT(refusal("single-op.issue.p50 <= nan us"), HasSubstr("is no threshold"));
  EXPECT_THAT(refusal("single-op[policy].issue.p50 <= 1us"), HasSubstr("not of the form NAME=VALUE"));
  EXPECT_THAT(refusal("single-op[policy=a.issue.p50 <= 1us"), HasSubstr("does not close it"));
}

TEST(Expect, WhatIsNotInTheDocumentIsRefused) {
  EXPECT_THAT(refusal("nothing.issue.p50 <= 1us"), HasSubstr("no experiment 'nothing' in this document"));
  EXPECT_THAT(refusal("single-op.isue.p50 <= 1us"), HasSubstr("single-op has no metric 'isue' here"));
  EXPECT_THAT(refusal("single-op[policy=fast].issue.p50 <= 1us"), HasSubstr("as the filter says"));
  EXPECT_THAT(refusal("single-op.issue.p50 <= 1 GB/s"), HasSubstr("is in us, and the threshold in GB/s"));
  EXPECT_THAT(refusal("single-op.issue.p50 <= 2 x single-op.put+completion.p50"), HasSubstr("kinds of time are not"));
}

TEST(Expect, EachOperatorDecides) {  // the sample's p50 is 0.5 us, its max 4 us
  EXPECT_TRUE(held("single-op.issue.p50 <= 0.5us"));
  EXPECT_FALSE(held("single-op.issue.p50 < 0.5us"));
  EXPECT_TRUE(held("single-op.issue.p50 >= 500 ns"));
  EXPECT_FALSE(held("single-op.issue.p50 > 500 ns"));
  EXPECT_TRUE(held("single-op.issue.max < 0.0041 ms"));
  EXPECT_FALSE(held("single-op.issue.max < 0.0039 ms"));
  EXPECT_TRUE(held("single-op[policy=gpu-fence,bytes=8,lane=host].put+completion.p50 <= 1us"));
}

TEST(Expect, ARatioOfTwoRows) {
  auto document = sample_document();
  auto slow = sample_record();
  slow.policy = "sys-fence";
  slow.metrics[0].summary = slow.metrics[0].summary.scaled(3);
  document.records.push_back(slow);
  const auto rows = [&](const char* text) { return check(parse_statement(text), document); };
  EXPECT_TRUE(rows("single-op[policy=sys-fence].issue.p50 >= 2.9 x single-op[policy=gpu-fence].issue.p50").at(0).held);
  EXPECT_FALSE(rows("single-op[policy=sys-fence].issue.p50 >= 3.1 x single-op[policy=gpu-fence].issue.p50").at(0).held);
  EXPECT_FALSE(rows("single-op[policy=sys-fence].issue.p50 < single-op[policy=gpu-fence].issue.p50").at(0).held);
}

TEST(Expect, RowsOfAnotherEngineAreNotSetAgainstEachOther) {
  auto document = sample_document();
  auto slow = sample_record();
  slow.engine = "gpu";
  slow.metrics[0].summary = slow.metrics[0].summary.scaled(3);
  document.records.push_back(slow);
  const auto statement = parse_statement("single-op.issue.p50 <= 1.5 x single-op.issue.p50");
  const auto rows = check(statement, document);
  EXPECT_EQ(rows.size(), 2U);
  for (const auto& row : rows) EXPECT_TRUE(row.held) << row.told;
  document.records.erase(document.records.begin());
  EXPECT_NO_THROW((void)check(statement, document));
}

TEST(Expect, AFailedRowDoesNotHoldAndAWaivedOneIsNotAsked) {
  auto document = sample_document();
  auto failed = sample_record();
  failed.policy = "none";
  failed.metrics.clear();
  fail(failed, "crashed: Killed");
  document.records.push_back(failed);
  const auto rows = check(parse_statement("single-op.issue.p50 <= 1us"), document);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0].held);
  EXPECT_FALSE(rows[1].held);
  EXPECT_THAT(rows[1].told, HasSubstr("crashed"));
}

TEST(Expect, ABaselineFileNamesItsLine) {
  const auto file = std::filesystem::path(::testing::TempDir()) / "expect_test.txt";
  const auto write = [&](const char* text) { std::ofstream(file) << text; };
  EXPECT_THROW((void)read_statements("/nowhere/at/all"), util::Error);
  write("# nothing\n\n");
  EXPECT_THROW((void)read_statements(file.string()), util::Error);
  write("single-op.issue.p50 <= 1us  # loose\nsingle-op.issue.p50 ~ 1us\n");
  try {
    (void)read_statements(file.string());
    FAIL();
  } catch (const util::Error& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("expect_test.txt:2: "));
  }
  write("# limits\nsingle-op.issue.p50 <= 1us  # loose\n\nsingle-op.issue.p99 <= 9us\n");
  EXPECT_EQ(read_statements(file.string()).size(), 2U);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace marrow::measure
