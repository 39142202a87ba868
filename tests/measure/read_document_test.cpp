// SPDX-License-Identifier: Apache-2.0
// What is refused, by which sentence; what an older version is read as; merging.
#include "measure/read_document.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "measure/merge.h"
#include "measure/sample_records.h"
#include "util/error.h"
#include "util/read_file.h"

namespace marrow::measure {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

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

std::string refusal_to_read(const std::string& file, std::size_t limit = util::kMiB) {
  try {
    return util::read_file(file, limit, "another");
  } catch (const util::Error& problem) {
    EXPECT_EQ(problem.kind(), util::ErrorKind::kUsage);
    EXPECT_EQ(problem.hint(), "another");
    return problem.what();
  }
}

TEST(ReadFile, OnlyARegularFileWithinTheLimitIsRead) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / ("read_file-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const auto pipe = folder / "pipe";
  const auto text = folder / "text";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::ofstream(text) << std::string(100, 'x');
  EXPECT_EQ(refusal_to_read("/dev/zero"), "/dev/zero is not a regular file");
  EXPECT_EQ(refusal_to_read(pipe), pipe.string() + " is not a regular file");
  EXPECT_EQ(refusal_to_read(folder), folder.string() + " is a folder");
  EXPECT_EQ(refusal_to_read(folder / "none"),
            "cannot read " + (folder / "none").string() + ": No such file or directory");
  EXPECT_EQ(refusal_to_read(text, 99), text.string() + " is larger than 0 MiB");
  EXPECT_EQ(util::read_file(text, 100, "another"), std::string(100, 'x'));
  std::filesystem::remove_all(folder);
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

TEST(ReadDocument, ANumberThatCountsNothingIsRefusedWithItsRowAndKey) {
  const auto row = std::string("x.json: single-op: mini-gda, gpu-fence");
  for (const auto* number : {"1e30", "-1", "0.5", "18446744073709551616", "true", "\"8\""}) {
    const auto value = Json::parse(number);
    for (const auto* key : {"environment", "runs", "warmup", "operations"}) {
      const auto said = refusal(changed([&](Json& j) { j["records"][0][key] = value; }));
      EXPECT_THAT(said, StartsWith(row));
      EXPECT_THAT(said, HasSubstr(fmt::format("'{}' is {}, not a whole number", key, value.dump())));
    }
    const auto said = refusal(changed([&](Json& j) { j["records"][0]["metrics"][0]["n"] = value; }));
    EXPECT_THAT(said, StartsWith(row));
    EXPECT_THAT(said, HasSubstr(fmt::format("'issue': 'n' is {}, not a whole number", value.dump())));
    if (value.is_string()) continue;  // an axis may be a word
    EXPECT_THAT(refusal(changed([&](Json& j) { j["records"][0]["axes"]["bytes"] = value; })),
                StartsWith("x.json: single-op: mini-gda, gpu-fence: 'bytes' is " + value.dump()));
  }
  EXPECT_THAT(refusal(changed([](Json& j) { j["records"][0]["metrics"][0]["p50"] = true; })),
              HasSubstr("'issue': 'p50' is true, not a number"));
  EXPECT_THAT(refusal(changed([](Json& j) { j["records"][0]["counts"]["wqes"] = -1; })), HasSubstr("'wqes' is -1"));
}

TEST(ReadDocument, AnotherShapeIsRefused) {
  EXPECT_EQ(refusal(changed([](Json& j) { j["records"] = Json::object(); })), "x.json: 'records' is not a list");
  EXPECT_EQ(refusal(changed([](Json& j) { j["environments"] = 1; })), "x.json: 'environments' is not a list");
  EXPECT_EQ(refusal(changed([](Json& j) { j["records"][0]["axes"] = Json::array({8}); })),
            "x.json: single-op: mini-gda, gpu-fence: 'axes' is not an object of names and values");
}

TEST(ReadDocument, WhatContradictsItselfIsRefused) {
  const auto& twice = changed([](Json& j) { j["records"].push_back(j["records"][0]); });
  EXPECT_EQ(refusal(twice), "x.json holds single-op: mini-gda, gpu-fence, bytes=8 payload=inline twice");
  EXPECT_THAT(refusal(changed([](Json& j) { j["records"][0]["metrics"][1]["name"] = "issue"; })),
              HasSubstr("the metric 'issue' is there twice"));
  EXPECT_THAT(refusal(changed([](Json& j) { j["records"][0]["metrics"][1]["kind"] = "model"; })),
              HasSubstr("metrics of kind model stand beside measured ones"));
  EXPECT_THAT(refusal(changed([](Json& j) {
                j["records"][0]["metrics"][0]["samples"] = {1.0, 2.0};
              })),
              HasSubstr("'issue': 'n' is 8, and there are 2 'samples'"));
}

TEST(ReadDocument, ARateStandsForMoreTriesThanItHasSamples) {
  EXPECT_EQ(refusal(changed([](Json& j) {
              auto& metric = j["records"][0]["metrics"][0];
              metric["unit"] = "per million";
              metric["samples"] = {1.0};
            })),
            "accepted");
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
  auto other = sample_document();
  other.records[0].metrics[0].summary.samples[0] = 0.125;
  const auto all = merge(std::array{NamedDocument{"a", sample_document()}, NamedDocument{"b", other}});
  ASSERT_EQ(all.records.size(), 2U);
  EXPECT_EQ(all.records[0].runs, 2U);
  EXPECT_EQ(all.records[0].metrics[0].summary.n, 16U);
}

TEST(Merge, ARunThatIsThereTwiceIsRefused) {
  const auto a = sample_document();
  const auto bare = document_from_text(to_text(a), "x");
  for (const auto& document : {a, bare}) {
    try {
      (void)merge(std::array{NamedDocument{"a", document}, NamedDocument{"copy", document}});
      FAIL();
    } catch (const util::Error& problem) {
      EXPECT_EQ(problem.kind(), util::ErrorKind::kUsage);
      EXPECT_THAT(problem.what(), StartsWith("a and copy hold the same run of single-op: mini-gda, gpu-fence"));
      EXPECT_EQ(problem.hint(), "each document once");
    }
  }
}

}  // namespace
}  // namespace marrow::measure
