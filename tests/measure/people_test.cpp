// SPDX-License-Identifier: Apache-2.0
// The table for people: kinds of time apart, reasons said, colours only when asked for.
#include "measure/people.h"

#include <gmock/gmock.h>

#include "measure/paper.h"
#include "measure/sample_records.h"

namespace marrow::measure {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Heading kHeading{"single-op", "Table 3", "What does one put cost?"};

std::string text(std::vector<Record> records, Look look = {}) {
  for (auto& record : records) add_paper_values(record);
  return experiment_text(records, kHeading, look);
}

TEST(People, KindsOfTimeNeverShareATable) {
  const auto t = text({sample_record()});
  const auto host = t.find("time: host-lane");
  const auto simulated = t.find("time: cx7-sim");
  ASSERT_NE(host, std::string::npos);
  ASSERT_NE(simulated, std::string::npos);
  EXPECT_LT(t.find("issue"), simulated);
  EXPECT_GT(t.find("put+completion"), simulated);
}

TEST(People, SaysWhatASoftwareNicCanNotSay) {
  EXPECT_THAT(text({sample_record()}, {.width = 200}), HasSubstr("can not say how long a ConnectX"));
}

TEST(People, ThePapersValueStandsBesideWithItsPlatform) {
  const auto t = text({sample_record()});
  EXPECT_THAT(t, HasSubstr("P-IB 0.700, P-GB200 0.770"));
  EXPECT_THAT(t, HasSubstr("arXiv:2610.01380 Table 3"));
}

TEST(People, AFailureIsSaidWithItsReasonAndItsNumbersStay) {
  auto record = sample_record();
  fail(record, "payload 7 differs");
  const auto t = text({record});
  EXPECT_THAT(t, HasSubstr("failed: mini-gda, gpu-fence"));
  EXPECT_THAT(t, HasSubstr("payload 7 differs"));
  EXPECT_THAT(t, HasSubstr("issue"));
}

TEST(People, AWaivedRowIsNeverAbsent) {
  EXPECT_THAT(text({waived_record()}), HasSubstr("no GPU here"));
}

TEST(People, ColoursOnlyWhenAskedFor) {
  EXPECT_THAT(text({sample_record(), waived_record()}), Not(HasSubstr("\x1b[")));
  EXPECT_THAT(text({sample_record()}, {.colour = true}), HasSubstr("\x1b["));
}

TEST(People, ANarrowTerminalGetsTheSameNumbers) {
  EXPECT_THAT(text({sample_record()}, {.width = 60}), HasSubstr("put+completion"));
}

TEST(People, WhatAllRowsShareIsSaidOnceAndCountsThatDifferAreATable) {
  auto other = sample_record();
  other.policy = "sys-fence";
  other.counts.totals[2].total = 0;
  const auto t = text({sample_record(), other});
  EXPECT_THAT(t, HasSubstr("every row: mini-gda bytes=8 payload=inline"));
  EXPECT_THAT(t, HasSubstr("  wqes 1, doorbells 1, atomics 0\n"));
  EXPECT_THAT(t, HasSubstr("  what       fences\n  gpu-fence       2\n  sys-fence       0\n"));
}

TEST(People, HeaderNamesTheActivePath) {
  const auto t = header_text(sample_document().environments.front(), {});
  for (const auto* word : {"nic", "link layer", "doorbell", "registration", "lane", "clock", "machine", "build"}) {
    EXPECT_THAT(t, HasSubstr(word));
  }
}

TEST(People, TheVerdictCountsAndSaysWhetherBytesWereVerified) {
  auto document = sample_document();
  EXPECT_THAT(verdict_text(document, {}), HasSubstr("1 passed, 0 failed, 1 waived; the bytes of every"));
  document.records[0].verified = false;
  EXPECT_THAT(verdict_text(document, {}), HasSubstr("1 of them without verified bytes"));
  document.records[0].nic = "model:cx7-200g";
  EXPECT_THAT(verdict_text(document, {}), HasSubstr("1 waived; 1 of them a model's, which moves no bytes\n"));
  document.records.push_back(sample_record());
  EXPECT_THAT(verdict_text(document, {}), HasSubstr("which moves no bytes; the bytes of every other passed row"));
}

TEST(Number, KeepsAboutFourDigits) {
  EXPECT_EQ(number_text(0.0456), "0.046");
  EXPECT_EQ(number_text(3.456), "3.456");
  EXPECT_EQ(number_text(34.567), "34.57");
  EXPECT_EQ(number_text(345.67), "345.7");
  EXPECT_EQ(number_text(3456.7), "3457");
  EXPECT_EQ(number_text(5), "5");
}

}  // namespace
}  // namespace marrow::measure
