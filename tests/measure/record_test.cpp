// SPDX-License-Identifier: Apache-2.0
// What may be written, what must not be, and that a record survives the way through text.
#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "measure/record_json.h"
#include "measure/sample_records.h"
#include "util/error.h"

namespace marrow::measure {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RecordJson, ANumberThatIsNoneIsRefused) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    auto record = sample_record();
    record.metrics[0].summary.p99 = bad;
    EXPECT_THROW((void)to_json(record), util::Error);
  }
}

TEST(RecordJson, AMetricWithoutSamplesIsRefused) {
  auto record = sample_record();
  record.metrics[0].summary = {};
  EXPECT_THROW((void)to_json(record), util::Error);
}

TEST(RecordJson, CountsOverNoOperationAreRefused) {
  auto record = sample_record();
  record.counts.operations = 0;
  EXPECT_THROW((void)to_json(record), util::Error);
}

TEST(RecordJson, WhatIsNoRecordIsRefused) {
  EXPECT_THROW((void)record_from_json(Json::parse("{}")), util::Error);
  auto json = to_json(sample_record());
  json["status"] = "fine";
  EXPECT_THROW((void)record_from_json(json), util::Error);
  json = to_json(sample_record());
  json["metrics"][0]["kind"] = "guessed";
  EXPECT_THROW((void)record_from_json(json), util::Error);
}

TEST(RecordJson, SurvivesTheWayThroughText) {
  for (const auto& record : {sample_record(), waived_record()}) {
    const auto text = to_json(record).dump();
    EXPECT_EQ(to_json(record_from_json(Json::parse(text))).dump(), text);
  }
}

TEST(RecordJson, CountsAreExactIntegersPerOperation) {
  const auto json = to_json(sample_record());
  EXPECT_TRUE(json["counts"]["fences"].is_number_integer());
  EXPECT_EQ(json["counts"]["fences"], 2);
  EXPECT_EQ(json["counts"]["atomics"], 0);
}

TEST(RecordJson, OneDoorbellForSixteenWqesIsAFraction) {
  auto record = sample_record();
  record.counts = {.operations = 1600, .totals = {{"doorbells", 100}}};
  const auto json = to_json(record);
  EXPECT_EQ(json["counts"]["doorbells"], 0.0625);
  EXPECT_EQ(record_from_json(json).counts.totals.at(0).total, 100U);
}

TEST(Document, HoldsSchemaEnvironmentAndRecordsAndNoNaN) {
  const auto text = to_text(sample_document());
  const auto json = Json::parse(text);
  EXPECT_EQ(json["schema"], "marrow.result/2");
  EXPECT_EQ(json["records"].size(), 2U);
  EXPECT_EQ(json["environments"][0]["commit"].get<std::string>().empty(), false);
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(Document, TextThatIsNotUtf8IsReplacedAndNotFatal) {
  auto document = sample_document();
  document.records[1].reason = "device said \xff\xfe";
  EXPECT_TRUE(Json::accept(to_text(document)));
}

TEST(ExitCode, FollowsTheWorstThatHappened) {
  Document document;
  EXPECT_EQ(exit_code_of(document), 77);
  document.records = {waived_record()};
  EXPECT_EQ(exit_code_of(document), 77);
  document.records.push_back(sample_record());
  EXPECT_EQ(exit_code_of(document), 0);
  fail(document.records[1], "payload differs");
  EXPECT_EQ(exit_code_of(document), 1);
}

TEST(Fail, KeepsTheFirstReasonAndWhatWasMeasured) {
  auto record = sample_record();
  fail(record, "payload differs");
  fail(record, "and more");
  EXPECT_EQ(record.status, Status::kFailed);
  EXPECT_EQ(record.reason, "payload differs");
  EXPECT_EQ(record.metrics.size(), 2U);
}

}  // namespace
}  // namespace marrow::measure
