// SPDX-License-Identifier: Apache-2.0
// compare, merge, thresholds, process runs and files, as a user would meet them: sentences, exit codes, nothing lost.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/folder.h"

namespace marrow::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Documents : public InFolder {
 protected:
  /// A document that the trial tool measured.
  std::string measured(const std::string& name,
                       std::vector<std::string> words = {"passes", "--iterations", "200"}) const {
    words.insert(words.begin(), {"run", "--nic", "cx7-sim", "--json", file(name)});
    const auto ended = tool(words);
    EXPECT_LE(ended.code, 1) << ended.err;
    return file(name);
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
};

void expect_refused(const Ended& ended, const std::string& sentence, const std::string& hint) {
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(ended.err, StartsWith("error: "));
  EXPECT_THAT(ended.err, HasSubstr(sentence));
  EXPECT_THAT(ended.err, HasSubstr("\ntry: " + hint));
}

// --- refusals ---

TEST_F(Documents, WhatCannotBeComparedIsRefusedInOneSentence) {
  const auto a = measured("a.json");
  const auto slow = measured("slow.json", {"is-slow", "--iterations", "5"});
  const auto real = file("real.json");
  EXPECT_EQ(tool({"run", "passes", "--nic", "mlx5_0", "--json", real}).code, 0);
  write("torn.json", content(a).substr(0, 700));
  write("new.json", R"({"schema": "marrow.result/9"})");
  write("strange.json", "{}");
  auto furlongs = json::parse(content(a));
  furlongs["records"][0]["metrics"][0]["unit"] = "furlongs";
  write("furlongs.json", furlongs.dump());
  expect_refused(tool({"compare", a}), "compare needs two documents, or one and a threshold, not 1", "marrow compare");
  expect_refused(tool({"compare", a, file("none.json")}), "cannot read", "marrow run");
  expect_refused(tool({"compare", a, file("torn.json")}), "is torn: it ends in the middle, after 700 bytes",
                 "measure again");
  expect_refused(tool({"compare", a, file("new.json")}), "is a marrow.result/9", "a marrow of the version");
  expect_refused(tool({"compare", a, file("strange.json")}), "names no schema", "marrow run");
  expect_refused(tool({"compare", a, file("furlongs.json")}), "has the unknown unit 'furlongs'", "marrow run");
  expect_refused(tool({"compare", a, slow}), "different experiments: passes and is-slow", "two documents of the same");
  expect_refused(tool({"compare", a, real}), "kinds of time are not compared", "two documents of the same --lane");
  expect_refused(tool({"compare", a, a, "--only", "pases"}), "has no experiment 'pases'; closest: passes",
                 "--only passes");
  expect_refused(tool({"compare", a, a, "--csv", "/nowhere/at/all.csv"}), "cannot write /nowhere/at/all.csv",
                 "a folder that is there");
  expect_refused(tool({"compare", a, "--expect", "passes.isue.p50 <= 1us"}), "passes has no metric 'isue'",
                 "one of: issue");
  expect_refused(tool({"compare", a, "--baseline", file("none.txt")}), "cannot read", "a file with one threshold");
  expect_refused(tool({"merge", a}), "merge needs a place for what it makes", "-o FILE");
  expect_refused(tool({"merge"}), "merge needs documents", "marrow merge");
  const auto b = measured("b.json");
  expect_refused(tool({"merge", a, b, "-o", file("out.json")}), "cannot be pooled without their samples",
                 "marrow run --samples");
  expect_refused(tool({"merge", a, a, "-o", file("out.json")}), "hold the same run of passes", "each document once");
  expect_refused(tool({"compare", a, "/dev/zero"}), "/dev/zero is not a regular file", "marrow run");
  expect_refused(tool({"compare", a, folder_}), " is a folder", "marrow run");
  expect_refused(tool({"compare", a, "--baseline", "/dev/zero"}), "/dev/zero is not a regular file", "a file with one");
  expect_refused(tool({"run", "passes", "--json", "-", "--csv", "-"}), "cannot both be stdout", "a file");
  expect_refused(tool({"run", "passes", "--expect", "is-slow.issue.p50 <= 1us"}), "which this run does not measure",
                 "marrow run is-slow");
  expect_refused(tool({"run", "passes", "--expect", "passes.issue <= 1us"}), "EXPERIMENT.METRIC.STATISTIC",
                 "'single-op");
}

// --- exit codes ---

TEST_F(Documents, ADocumentAgainstItselfIsNoiseAndExitsZero) {
  const auto a = measured("a.json");
  const auto ended = tool({"compare", a, a, "--all"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("3 metrics: 3 noise"));
  EXPECT_THAT(ended.out, HasSubstr("B/A of p50"));
}

TEST_F(Documents, SlowerIsWorseAndExitsOne) {
  const auto a = measured("a.json");
  auto slower = json::parse(content(a));
  for (auto& record : slower["records"]) {
    for (auto& metric : record["metrics"]) {
      for (const auto* key : {"p50", "p99"}) metric[key] = metric[key].get<double>() * 10;
      for (auto& block : metric["blocks"]) block = block.get<double>() * 10;
      for (auto& run : metric["runs"]) run["p50"] = run["p50"].get<double>() * 10;
    }
  }
  write("slower.json", slower.dump());
  auto ended = tool({"compare", a, file("slower.json"), "--csv", file("c.csv")});
  EXPECT_EQ(ended.code, 1) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("worse"));
  EXPECT_THAT(content(file("c.csv")), HasSubstr(",worse,"));
  EXPECT_EQ(tool({"compare", file("slower.json"), a}).code, 0);
}

TEST_F(Documents, AThresholdDecidesTheExitCodeOfRunAndCompare) {
  const auto a = measured("a.json");
  EXPECT_EQ(tool({"compare", a, "--expect", "passes.issue.p50 <= 1s"}).code, 0);
  auto ended = tool({"compare", a, "--expect", "passes.issue.p50 <= 1s", "--expect", "passes.issue.p50 <= 0.001 ns"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.out, HasSubstr("expect: passes.issue.p50 <= 1s: held"));
  EXPECT_THAT(ended.out, HasSubstr("expect: passes.issue.p50 <= 0.001 ns: NOT HELD"));
  write("limits.txt", "# loose\npasses.issue.p99 <= 1s\n");
  EXPECT_EQ(tool({"compare", a, "--baseline", file("limits.txt")}).code, 0);
  EXPECT_EQ(tool({"run", "passes", "--expect", "passes.issue.p50 <= 1s"}).code, 0);
  ended = tool({"run", "passes", "--expect", "passes.issue.p50 <= 0.001 ns", "--json", "-"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_TRUE(json::accept(ended.out));
  EXPECT_THAT(ended.err, HasSubstr("NOT HELD"));
}

// --- process runs ---

TEST_F(Documents, ThreeRunsAreThreeProcessesInOneRecord) {
  const auto document = json::parse(content(measured("a.json", {"passes", "--runs", "3", "--iterations", "40"})));
  ASSERT_EQ(document["records"].size(), 3U);
  const auto& record = document["records"][0];
  EXPECT_EQ(record["runs"], 3);
  EXPECT_EQ(record["warmup"], 500);
  EXPECT_EQ(record["operations"], 120);
  const auto& metric = record["metrics"][0];
  EXPECT_EQ(metric["n"], 120);
  EXPECT_EQ(metric["runs"].size(), 3U);
  EXPECT_EQ(metric["spread"]["ci95_by"], "runs");
  EXPECT_FALSE(metric.contains("samples"));
}

TEST_F(Documents, ACrashInOneRunKeepsTheOthers) {
  const auto ended = tool({"run", "crashes", "--runs", "2", "--nic", "cx7-sim", "--json", "-"});
  EXPECT_EQ(ended.code, 1);
  const auto records = json::parse(ended.out)["records"];
  EXPECT_EQ(records[0]["runs"], 2);
  EXPECT_EQ(records[1]["reason"], "run 1: crashed: Killed");
  EXPECT_EQ(records[2]["status"], "passed");
}

TEST_F(Documents, TheNoiseRuleGoesOnUntilTheLimitAndSaysSo) {
  const auto ended = tool(
      {"run", "is-slow", "--iterations", "3", "--noise", "0.01", "--limit", "0.5", "--nic", "cx7-sim", "--json", "-"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto record = json::parse(ended.out)["records"][0];
  EXPECT_GT(record["runs"], 3);
  EXPECT_THAT(record["warnings"][0].get<std::string>(), HasSubstr("the limit of 0.5 s ended it after"));
}

TEST_F(Documents, TheNoiseRuleStopsWhenTheIntervalIsNarrow) {
  const auto ended =
      tool({"run", "is-slow", "--iterations", "20", "--noise", "100", "--nic", "cx7-sim", "--json", "-"});
  const auto record = json::parse(ended.out)["records"][0];
  EXPECT_EQ(record["runs"], 3);
  EXPECT_THAT(record["warnings"], IsEmpty());
}

TEST_F(Documents, SamplesAreWrittenOnRequestAndPoolByMerging) {
  const auto a = measured("a.json", {"passes", "--samples", "--iterations", "9"});
  EXPECT_EQ(json::parse(content(a))["records"][0]["metrics"][0]["samples"].size(), 9U);
  const auto b = measured("b.json", {"passes", "--samples", "--iterations", "9"});
  EXPECT_EQ(tool({"merge", a, b, "-o", file("both.json"), "--csv", file("both.csv")}).code, 0);
  const auto both = json::parse(content(file("both.json")));
  EXPECT_EQ(both["records"][0]["runs"], 2);
  EXPECT_EQ(both["records"][0]["metrics"][0]["n"], 18);
  EXPECT_THAT(content(file("both.csv")),
              StartsWith("experiment,path,policy,axes,lane,nic,status,reason,runs,warmup,metric"));
}

// --- files ---

TEST_F(Documents, AFullDiskLeavesTheOldDocumentWhole) {
  const auto a = measured("a.json");
  const auto before = content(a);
  // RLIMIT_FSIZE stands for the full disk: the write fails half-way, as ENOSPC does.
  const auto ended = spawn({"sh", "-c",
                            "trap '' XFSZ; ulimit -f 2; exec " + std::string(TRIAL_TOOL) +
                                " run passes --samples --iterations 3000 --json " + a + " >/dev/null"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("error: cannot write " + a));
  EXPECT_THAT(ended.err, HasSubstr("try: the same again with room on that disk"));
  EXPECT_EQ(content(a), before);
  EXPECT_EQ(files(), 1U);
}

TEST_F(Documents, ARunThatIsRefusedLeavesNoFile) {
  EXPECT_EQ(tool({"run", "pases", "--json", file("new.json")}).code, 2);
  EXPECT_EQ(files(), 0U);
}

TEST_F(Documents, AFileIsNotWrittenTwiceNorOverAnInput) {
  const auto a = measured("a.json");
  const auto before = content(a);
  std::filesystem::create_symlink(file("x"), file("to-x"));  // where nothing is yet
  std::filesystem::create_symlink(a, file("to-a"));
  std::filesystem::create_hard_link(a, file("also-a"));
  const auto dotted = (folder_ / "." / "x").string();
  for (const auto& other : {file("x"), dotted, file("to-x")}) {
    expect_refused(tool({"run", "passes", "--json", file("x"), "--csv", other}), "are one file",
                   "another file for --csv");
    expect_refused(tool({"suite", "paper", "--json", file("x"), "--csv", other}), "are one file",
                   "another file for --csv");
    expect_refused(tool({"merge", a, "-o", file("x"), "--csv", other}), "are one file", "another file for --csv");
    expect_refused(tool({"sim", "--stats=" + file("x"), "--trace", other, "--", "true"}), "are one file",
                   "another file");
    expect_refused(tool({"sim", "--stats=" + file("x"), "--pcap", other, "--", "true"}), "are one file",
                   "another file");
  }
  expect_refused(tool({"suite", "paper", "--json", file("x"), "--csv", file("x.partial")}), "the journal",
                 "another file");
  for (const auto& name : {a, file("to-a"), file("also-a")}) {
    expect_refused(tool({"compare", a, a, "--csv", name}), "would write over", "another file for --csv");
    expect_refused(tool({"report", a, "-o", name}), "would write over", "another file for -o");
    expect_refused(tool({"merge", a, "-o", file("x"), "--csv", name}), "would write over", "another file for --csv");
  }
  expect_refused(tool({"compare", a, "--baseline", a, "--csv", a}), "would write over", "another file for --csv");
  EXPECT_EQ(content(a), before);
  EXPECT_FALSE(std::filesystem::exists(file("x")));
  EXPECT_EQ(tool({"merge", a, "-o", a}).code, 0);  // what was in it is in it
  EXPECT_EQ(tool({"run", "passes", "--json", "/dev/null", "--csv", "/dev/null"}).code, 0);
}

TEST_F(Documents, AnInterruptedRunLeavesACompleteFileAsItWas) {
  const auto a = measured("a.json");
  const auto before = content(a);
  const std::vector<std::string> words{TRIAL_TOOL, "run", "is-slow", "--iterations", "100000", "--json", a};
  const auto ended = spawn(words, std::chrono::milliseconds(800));
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_EQ(content(a), before);
  EXPECT_THAT(ended.err, HasSubstr("this interrupted run goes to " + a + ".interrupted"));
  const auto part = json::parse(content(a + ".interrupted"));
  EXPECT_THAT(part["records"][0]["reason"].get<std::string>(), StartsWith("interrupted after"));
}

TEST_F(Documents, ALinkKeepsPointingAtTheFileThatIsReplaced) {
  const auto a = measured("a.json");
  std::filesystem::create_symlink(a, file("link.json"));
  EXPECT_EQ(tool({"run", "passes", "--iterations", "7", "--json", file("link.json")}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(file("link.json")));
  EXPECT_EQ(json::parse(content(a))["records"][0]["operations"], 7);
}

TEST_F(Documents, ADeviceIsWrittenAndNotReplaced) {
  EXPECT_EQ(tool({"run", "passes", "--json", "/dev/null"}).code, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const auto full = tool({"run", "passes", "--json", "/dev/full"});
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.err, HasSubstr("no space left"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

}  // namespace
}  // namespace marrow::cli
