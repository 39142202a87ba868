// SPDX-License-Identifier: Apache-2.0
// marrow suite as a user meets it: what is refused, that it goes on where it was interrupted, and that nothing is lost.
// The trial tool has two of the paper's experiments by name; all others are waived with what would let them run.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/folder.h"

namespace marrow::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Suite : public InFolder {
 protected:
  [[nodiscard]] std::vector<std::string> words(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {TRIAL_TOOL, "suite", "paper", "--nic", "cx7-sim", "--json", file("s.json")});
    return more;
  }
  [[nodiscard]] json records_of(const std::string& experiment) const {
    json found = json::array();
    const auto document = json::parse(content(file("s.json")));
    for (const auto& record : document["records"]) {
      if (record["experiment"] == experiment) found.push_back(record);
    }
    return found;
  }
};

TEST_F(Suite, WhatMakesNoSenseIsRefused) {
  for (const auto& [more, sentence] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"suite"}, "suite needs the name of one suite"},
           {{"suite", "papr"}, "no suite 'papr'; known: paper"},
           {{"suite", "paper", "--json", "-"}, "a suite is written to a file"},
           {{"suite", "paper", "--json", "/dev/full"}, "a suite is written to a regular file, and /dev/full is none"},
           {{"suite", "paper", "--json", std::string(300, 'x')}, "cannot write xxx"},
           {{"suite", "paper", "--json", "/nowhere/at/all.json"}, "cannot write /nowhere/at/all.json"}}) {
    auto all = more;
    all.insert(all.begin(), TRIAL_TOOL);
    const auto ended = spawn(all);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("error: " + sentence));
    EXPECT_THAT(ended.err, HasSubstr("\ntry: "));
    EXPECT_THAT(ended.out, IsEmpty());
  }
}

TEST_F(Suite, ACrashIsThatRowsFailureAndEverythingElseIsInTheDocument) {
  const auto ended = spawn(words());
  EXPECT_EQ(ended.code, 1) << ended.err;
  ASSERT_EQ(records_of("single-op").size(), 3U);
  EXPECT_EQ(records_of("single-op")[0]["status"], "passed");
  const auto ordering = records_of("ordering");
  ASSERT_EQ(ordering.size(), 3U);
  EXPECT_EQ(ordering[1]["reason"], "crashed: Killed");
  EXPECT_EQ(ordering[2]["status"], "passed");
  EXPECT_EQ(records_of("timer-check").size(), 1U);
  EXPECT_THAT(ended.out, HasSubstr("1 failed"));
  EXPECT_FALSE(std::filesystem::exists(file("s.json.partial")));
}

TEST_F(Suite, WhatMarrowDoesNotHaveIsWaivedWithWhatWouldLetItRun) {
  (void)spawn(words());
  const auto records = records_of("deepep");
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0]["status"], "waived");
  EXPECT_THAT(records[0]["reason"].get<std::string>(), HasSubstr("it would need DeepEP V1"));
}

TEST_F(Suite, AnInterruptedSuiteGoesOnBehindWhatIsDone) {
  const auto first = spawn(words({"--iterations", "1500"}), std::chrono::milliseconds(1200));
  EXPECT_EQ(first.code, 1) << first.err;
  EXPECT_THAT(first.err, HasSubstr("experiments are kept in"));
  EXPECT_FALSE(std::filesystem::exists(file("s.json")));
  const auto journal = content(file("s.json.partial"));
  EXPECT_THAT(journal, HasSubstr("\"experiment\":\"single-op\""));
  EXPECT_THAT(journal, Not(HasSubstr("\"experiment\":\"timer-check\"")));
  // A line that was torn by the machine's death is measured again.
  std::ofstream(file("s.json.partial"), std::ios::app) << "{\"experiment\":\"tim";

  const auto other = spawn(words({"--iterations", "20"}));
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("is of a suite with other settings"));
  EXPECT_THAT(other.err, HasSubstr("try: --fresh"));

  const auto second = spawn(words({"--iterations", "1500"}));
  EXPECT_EQ(second.code, 1) << second.err;
  EXPECT_THAT(second.err, HasSubstr("from before"));
  EXPECT_EQ(records_of("single-op").size(), 3U);
  EXPECT_EQ(records_of("timer-check")[0]["operations"], 1500);
}

TEST_F(Suite, ATerminalSeesWhereItIsAndWhatIsLeft) {
  std::string line;
  for (const auto& word : words()) line += "'" + word + "' ";
  const auto ended = spawn({"script", "-qec", line, "/dev/null"});  // a terminal of its own
  EXPECT_THAT(ended.out, HasSubstr("1 of "));
  EXPECT_THAT(ended.out, HasSubstr("single-op, row 2 of 3"));
  EXPECT_THAT(ended.out, HasSubstr(" left"));
  EXPECT_THAT(ended.out, HasSubstr("2 passed, 1 failed, 0 waived"));
}

TEST_F(Suite, AFullDiskAtTheEndKeepsWhatWasMeasured) {
  std::filesystem::create_symlink("/dev/full", file("full.csv"));
  const auto full = spawn(words({"--csv", file("full.csv")}));
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.err, HasSubstr("error: cannot write " + file("full.csv")));
  EXPECT_THAT(content(file("s.json.partial")), HasSubstr("\"experiment\":\"timer-check\""));
  const auto again = spawn(words());
  EXPECT_THAT(again.err, HasSubstr("from before"));
  EXPECT_EQ(records_of("single-op").size(), 3U);
}

TEST_F(Suite, ASecondOneOnTheSameFileIsRefusedWhileTheFirstGoesOn) {
  auto first = std::async(std::launch::async, [&] { return spawn(words({"--iterations", "3000"})); });
  for (int i = 0; i < 1000 && content(file("s.json.partial")).find("single-op\",") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (const auto& more : {std::vector<std::string>{"--iterations", "3000"}, {"--fresh"}}) {
    const auto second = spawn(words(more));
    EXPECT_EQ(second.code, 2) << second.err;
    EXPECT_THAT(second.err, HasSubstr("error: another suite is writing " + file("s.json")));
    EXPECT_THAT(second.err, HasSubstr("\ntry: another --json FILE"));
  }
  EXPECT_EQ(first.get().code, 1);  // ordering crashes in this trial
  EXPECT_EQ(records_of("timer-check")[0]["operations"], 3000);
}

TEST_F(Suite, FreshThrowsAwayWhatWasLeft) {
  std::ofstream(file("s.json.partial")) << "{\"journal\":\"marrow.journal/1\",\"settings\":\"of another\"}\n";
  EXPECT_EQ(spawn(words()).code, 2);
  EXPECT_EQ(spawn(words({"--fresh"})).code, 1);
  EXPECT_EQ(records_of("single-op").size(), 3U);
}

TEST_F(Suite, AFileThatIsNoJournalIsNotTouched) {
  std::ofstream(file("s.json.partial")) << "my notes\n";
  const auto ended = spawn(words());
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("is no journal of a suite"));
  EXPECT_EQ(content(file("s.json.partial")), "my notes\n");
}

TEST_F(Suite, AJournalThatWasEditedIsRefusedWithItsLineAndKept) {
  std::filesystem::create_symlink("/dev/full", file("full.csv"));
  EXPECT_EQ(spawn(words({"--csv", file("full.csv")})).code, 1);
  const auto whole = content(file("s.json.partial"));
  const auto second = whole.find('\n') + 1;
  const auto third = whole.find('\n', second) + 1;
  ASSERT_LT(third, whole.size());
  for (const std::string line : {"{\"experiment\":\"tim", "{\"experiment\":7}"}) {
    const auto edited = whole.substr(0, second) + line + "\n" + whole.substr(third);
    std::ofstream(file("s.json.partial")) << edited;
    const auto ended = spawn(words());
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("error: " + file("s.json.partial") + ", line 2: "));
    EXPECT_THAT(ended.err, HasSubstr("try: --fresh throws it away"));
    EXPECT_EQ(content(file("s.json.partial")), edited);
  }
}

}  // namespace
}  // namespace marrow::cli
