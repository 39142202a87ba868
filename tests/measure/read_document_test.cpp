// SPDX-License-Identifier: Apache-2.0
// What is refused, by which sentence; what an older version is read as; merging.
#include "measure/read_document.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "measure/merge.h"
#include "measure/sample_records.h"
#include "util/error.h"

namespace marrow::measure {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    (void)document_from_text(text, "x.json");
  } catch (const util::Error& problem) {
    EXPECT_EQ(problem.kind(), util::ErrorKind::kUsage);
    EXPECT_FALSE(problem.hint().empty());
    return problem.what();
  }
  return "accepted";
}

std::string changed(const std::function<void(Json&)>& change) {
  auto json = Json::parse(to_text(sample_document()));
  change(json);
  return json.dump();
}

TEST(ReadDocument, AFileThatIsNotThereOrAFolderIsRefused) {
  EXPECT_THROW((void)read_document("/nowhere/at/all.json"), util::Error);
  EXPECT_THROW((void)read_document("/tmp"), util::Error);
}

TEST(ReadDocument, EachThingThatIsWrongHasItsSentence) {
  const auto text = to_text(sample_document());
  EXPECT_EQ(refusal(""), "x.json is empty");
  EXPECT_THAT(refusal(text.substr(0, text.size() / 2)), HasSubstr("x.json is torn: it ends in the middle, after"));
  EXPECT_THAT(refusal("hello"), HasSubstr("x.json is not JSON"));
  EXPECT_THAT(refusal("{}"), HasSubstr("names no schema"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("names no schema"));
  EXPECT_THAT(refusal(R"({"schema": "other/1"})"), HasSubstr("has the schema 'other/1', not marrow.result/2"));
  EXPECT_THAT(refusal(R"({"schema": "marrow.result/3"})"), HasSubstr("this marrow reads marrow.result/1 and"));
  EXPECT_THAT(refusal(changed([](Json& j) { j["records"][0]["metrics"][0]["unit"] = "furlongs"; })),
              HasSubstr("'issue' has the unknown unit 'furlongs'"));
  EXPECT_THAT(refusal(changed([](Json& j) { j["records"][0]["metrics"][0]["kind"] = "guessed"; })),
              HasSubstr("unknown kind of time 'guessed'"));
  EXPECT_THAT(refusal(changed([](Json& j) { j["records"][0]["status"] = "fine"; })), HasSubstr("unknown status"));
  EXPECT_THAT(refusal(changed([](Json& j) { j["records"][0]["environment"] = 7; })), HasSubstr("environment 7"));
  EXPECT_THAT(refusal(changed([](Json& j) { j.erase("environments"); })), HasSubstr("no whole document"));
  EXPECT_THAT(refusal(changed([](Json& j) { j["environments"] = Json::array(); })), HasSubstr("environment 0"));
}

TEST(ReadDocument, SurvivesTheWayThroughText) {
  const auto text = to_text(sample_document(), Raw::kWrite);
  EXPECT_EQ(to_text(document_from_text(text, "x"), Raw::kWrite), text);
}

TEST(ReadDocument, VersionOneIsReadByRuleAndWhatItDidNotRecordStaysUnknown) {
  auto json = Json::parse(to_text(sample_document()));
  json["schema"] = "marrow.result/1";
  json["environment"] = json["environments"][0];
  json.erase("environments");
  for (auto& record : json["records"]) {
    for (const auto* key : {"environment", "runs", "warmup"}) record.erase(key);
    for (auto& metric : record["metrics"]) {
      for (const auto* key : {"runs", "blocks"}) metric.erase(key);
      for (const auto* key : {"mad", "outliers", "ci95_by"}) metric["spread"].erase(key);
    }
  }
  const auto document = document_from_text(json.dump(), "old.json");
  const auto& record = document.records.at(0);
  EXPECT_FALSE(record.warmup);
  EXPECT_EQ(record.runs, 1U);
  const auto& s = record.metrics.at(0).summary;
  EXPECT_FALSE(s.mad);
  EXPECT_FALSE(s.outliers);
  EXPECT_EQ(s.runs.size(), 1U);
  EXPECT_EQ(s.interval_by, IntervalBy::kOrderStatistics);
  EXPECT_TRUE(Json::accept(to_text(document)));
}

TEST(Merge, TheSameRowWithoutSamplesOrOfAnotherBuildIsRefused) {
  auto bare = document_from_text(to_text(sample_document()), "x");
  try {
    (void)merge(std::array{NamedDocument{"a", sample_document()}, NamedDocument{"b", bare}});
    FAIL();
  } catch (const util::Error& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("a and b both hold single-op: mini-gda, gpu-fence"));
    EXPECT_THAT(problem.what(), HasSubstr("without their samples"));
  }
  auto other = sample_document();
  other.environments[0].commit = "0123";
  EXPECT_THROW((void)merge(std::array{NamedDocument{"a", sample_document()}, NamedDocument{"b", other}}), util::Error);
}

TEST(ReadDocument, WhatStandsUnderResultsIsReadThoughItKnowsNothingOfGpuStates) {
  const auto document = read_document(RESULTS "/single-op.json");
  ASSERT_FALSE(document.records.empty());
  EXPECT_FALSE(document.records[0].gpu_state.has_value());
  EXPECT_TRUE(document.environments[0].path->unknown.empty());
}

TEST(Merge, OtherRowsStandSideBySideWithTheirEnvironment) {
  auto other = sample_document();
  other.environments[0].cpu_model = "another";
  for (auto& record : other.records) record.experiment = "ordering";
  const auto all = merge(std::array{NamedDocument{"a", sample_document()}, NamedDocument{"b", other}});
  ASSERT_EQ(all.records.size(), 4U);
  ASSERT_EQ(all.environments.size(), 2U);
  EXPECT_EQ(all.environments[all.records[2].environment].cpu_model, "another");
}

TEST(Merge, AnotherEngineIsAnotherRow) {
  auto other = sample_document();
  other.environments[0].commit = "0123";
  other.records[0].engine = "gpu";
  EXPECT_EQ(merge(std::array{NamedDocument{"a", sample_document()}, NamedDocument{"b", other}}).records.size(), 3U);
}

TEST(Merge, ARowThatWasWaivedGivesWayToOneThatRan) {
  auto waived = sample_document();
  waived.environments[0].commit = "0123";
  waived.records[0].status = Status::kWaived;
  waived.records[0].reason = "no GPU here";
  waived.records[0].metrics.clear();
  for (const auto& all : {merge(std::array{NamedDocument{"a", waived}, NamedDocument{"b", sample_document()}}),
                          merge(std::array{NamedDocument{"a", sample_document()}, NamedDocument{"b", waived}})}) {
    ASSERT_EQ(all.records.size(), 2U);
    EXPECT_EQ(all.records[0].status, Status::kPassed);
  }
}

TEST(Merge, TheSameRowOfOneBuildIsPooledAsRuns) {
  const auto all = merge(std::array{NamedDocument{"a", sample_document()}, NamedDocument{"b", sample_document()}});
  ASSERT_EQ(all.records.size(), 2U);
  EXPECT_EQ(all.records[0].runs, 2U);
  EXPECT_EQ(all.records[0].metrics[0].summary.n, 16U);
}

}  // namespace
}  // namespace marrow::measure
