// SPDX-License-Identifier: Apache-2.0
// The command line as a contract: exit codes, what goes where, and that nothing measured is ever lost.
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

json document(std::vector<std::string> words, int code) {
  words.insert(words.begin(), {"run", "--json", "-", "--nic", "cx7-sim"});
  const auto ended = tool(words);
  EXPECT_EQ(ended.code, code) << ended.err;
  return json::parse(ended.out);
}

// --- refusals ---

struct Refusal {
  std::vector<std::string> words;
  const char* sentence;
  const char* hint;
};

TEST(Refuses, EverythingUnknownWithExitCodeTwoAndTheClosestName) {
  const Refusal refusals[] = {
      {{}, "error: no command was given", "try: marrow --help"},
      {{"rnu"}, "error: no command 'rnu'; closest: run", "try: marrow --help"},
      {{"run"}, "error: run needs the name of an experiment", "try: marrow list"},
      {{"run", "pases"}, "error: no experiment 'pases'; closest: passes", "try: marrow list"},
      {{"run", "passes", "--policy", "fest"},
       "error: passes has no policy 'fest'; closest: fast",
       "marrow list passes"},
      {{"run", "passes", "--axis", "byts=8"}, "error: passes has no axis 'byts'; closest: bytes", "marrow list passes"},
      {{"run", "passes", "--axis", "bytes=9"}, "error: axis 'bytes': 9 is not a multiple of 4", "--axis bytes=8"},
      {{"run", "passes", "--axis", "bytes=65"}, "error: axis 'bytes': 65 is not within 8 and 64", "--axis bytes=8"},
      {{"run", "passes", "--axis", "bytes=x"}, "error: axis 'bytes': 'x' is not a whole number", "--axis bytes=8"},
      {{"run", "passes", "--axis", "bytes"}, "error: 'bytes' is not of the form NAME=VALUES", "--axis bytes=8,64"},
      {{"run", "passes", "--axis", "payload=inlin"}, "has no value 'inlin'; closest: inline", "marrow list passes"},
      {{"run", "passes", "--policy", "fast", "--axis", "payload=pointer"}, "no row of passes has this", "marrow list"},
      {{"run", "passes", "--nic", "mlx5_1"},
       "error: no NIC 'mlx5_1' on this machine; closest: mlx5_0",
       "--nic cx7-sim"},
      {{"run", "passes", "--nic", "mlx5_0,mlx5_0,rxe0"}, "error: --nic takes one device or two, not 3", ""},
      {{"run", "passes", "--lane", "hots"}, "error: no lane 'hots'; closest: host", "--lane host"},
      {{"run", "passes", "--lane", "gpu:x"}, "error: no lane 'gpu:x'", "--lane host"},
      {{"run", "passes", "--nic", "cx7-sim", "--engine", "cpuu"},
       "error: no engine 'cpuu'; closest: cpu",
       "--engine auto"},
      {{"run", "passes", "--nic", "mlx5_0", "--engine", "cpu"},
       "error: mlx5_0 is a real NIC, and only the software NIC has an engine to choose",
       "--nic cx7-sim"},
      {{"run", "passes", "--lane", "gpu:7"}, "error: no GPU 7 here: there is only GPU 0", "--lane gpu:0"},
      {{"run", "passes", "--itertions", "5"},
       "error: run has no option '--itertions'; closest: --iterations",
       "--help"},
      {{"run", "passes", "--iterations", "0"},
       "error: --iterations: '0' is no whole number from 1 to 100000000",
       "try: marrow run --help"},
      {{"run", "passes", "--iterations", "many"},
       "error: --iterations: 'many' is no whole number",
       "marrow run --help"},
      {{"run", "passes", "--timeout", "-1"}, "error: --timeout: '-1' is no number from 0.001 to 86400", "marrow run"},
      {{"run", "passes", "--timeout", "nan"}, "error: --timeout: 'nan' is no number", "try: marrow run --help"},
      {{"run", "passes", "--json"}, "error: --json needs a value", "try: marrow run --help"},
      {{"run", "passes", "--nic", "a", "--nic=b"}, "error: --nic is there 2 times, and takes one value", "--help"},
      {{"run", "passes", "-x"}, "error: run has no option '-x'", "try: marrow run --help"},
      {{"list", "passes", "again"}, "error: list can do nothing with 'again'", "try: marrow list --help"},
      {{"run", "passes", "--json", "/nowhere/at/all.json"},
       "error: cannot write /nowhere/at/all.json",
       "a folder that is there"},
      {{"run", "passes", "--json", std::string(300, 'x')}, "xxx: file name too long", "try: another file"},
      {{"list", "zzzzz"}, "error: no experiment matches 'zzzzz'", "try: marrow list"},
      {{"sim"}, "error: sim needs a command to run", "try: marrow sim -- ibv_devinfo"},
      {{"sim", "ls"}, "error: the command 'ls' must stand after --", "try: marrow sim -- ls"},
      {{"sim", "--link", "ethernet", "--", "ls"},
       "error: --link: 'ethernet' is no choice; known: ib, roce",
       "try: marrow sim --help"},
      {{"trace"}, "error: trace needs the name of one experiment", "try: marrow list"},
  };
  for (const auto& refusal : refusals) {
    const auto ended = tool(refusal.words);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err, HasSubstr(refusal.sentence));
    EXPECT_THAT(ended.err, HasSubstr(refusal.hint));
    EXPECT_THAT(ended.err, StartsWith("error: "));
  }
}

TEST(Refuses, AnEmptyValueOfAnyOption) {
  for (const auto& [words, option] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"run", "passes", "--json", ""}, "--json"},
           {{"run", "passes", "--csv="}, "--csv"},
           {{"run", "passes", "--nic", ""}, "--nic"},
           {{"run", "passes", "--engine", ""}, "--engine"},
           {{"run", "passes", "--profile", ""}, "--profile"},
           {{"run", "passes", "--policy="}, "--policy"},
           {{"suite", "paper", "--json", ""}, "--json"},
           {{"compare", "a", "b", "--only", ""}, "--only"},
           {{"report", "a", "-o", ""}, "-o"},
           {{"sim", "--pcap", "", "--", "true"}, "--pcap"},
           {{"sim", "--udp", "", "--", "true"}, "--udp"},
           {{"sim", "--faults", "", "--", "true"}, "--faults"},
           {{"sim", "--stats=", "--", "true"}, "--stats"}}) {
    const auto ended = tool(words);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err,
                StartsWith("error: " + option + " needs a value, not an empty one\ntry: marrow " + words[0]));
  }
}

TEST(Refuses, ASecondExperimentThatIsUnknownBeforeMeasuringTheFirst) {
  const auto ended = tool({"run", "passes", "nothing-of-the-kind"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.out, IsEmpty());
}

// --- failures keep what was measured ---

TEST(Run, ACrashIsThatRowsFailureAndTheOthersGoOn) {
  const auto records = document({"crashes", "passes"}, 1)["records"];
  ASSERT_EQ(records.size(), 6U);
  EXPECT_EQ(records[0]["status"], "passed");
  EXPECT_EQ(records[1]["status"], "failed");
  EXPECT_EQ(records[1]["reason"], "crashed: Killed");
  EXPECT_EQ(records[2]["status"], "passed");
  EXPECT_EQ(records[5]["status"], "passed");
}

TEST(Run, AnExitIsAFailureWithItsStatus) {
  EXPECT_EQ(document({"exits"}, 1)["records"][0]["reason"], "ended with exit status 3");
}

TEST(Run, ATimeLimitKeepsTheOperationsThatWereDone) {
  const auto records = document({"is-slow", "passes", "--iterations", "100000", "--timeout", "0.4"}, 1)["records"];
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[0]["status"], "failed");
  EXPECT_THAT(records[0]["reason"].get<std::string>(), HasSubstr("time limit of 0.4 s"));
  EXPECT_GT(records[0]["metrics"][0]["n"].get<int>(), 10);
  EXPECT_EQ(records[3]["status"], "passed");
}

TEST(Run, AHangIsKilledAndTheOthersGoOn) {
  const auto records = document({"hangs", "passes", "--timeout", "0.3"}, 1)["records"];
  EXPECT_THAT(records[0]["reason"].get<std::string>(), HasSubstr("did not stop when asked and was killed"));
  EXPECT_EQ(records[1]["status"], "passed");
}

TEST(Run, AnInterruptEndsWithWhatWasMeasuredAndNamesTheRest) {
  const auto ended = spawn({TRIAL_TOOL, "run", "passes", "is-slow", "fails", "--iterations", "100000", "--json", "-"},
                           std::chrono::milliseconds(800));
  EXPECT_EQ(ended.code, 1) << ended.err;
  const auto records = json::parse(ended.out)["records"];
  ASSERT_EQ(records.size(), 5U);
  EXPECT_EQ(records[0]["status"], "passed");
  EXPECT_THAT(records[3]["reason"].get<std::string>(), StartsWith("interrupted after"));
  EXPECT_GT(records[3]["metrics"][0]["n"].get<int>(), 10);
  EXPECT_EQ(records[4]["status"], "waived");
  EXPECT_THAT(ended.err, HasSubstr("interrupted"));
}

TEST(Run, WhatIsNotVerifiedNotMeasuredNotANumberOrNotAsExpectedFails) {
  const auto records =
      document({"is-unverified", "measures-nothing", "measures-nan", "expects-too-much", "fails"}, 1)["records"];
  EXPECT_THAT(records[0]["reason"].get<std::string>(), HasSubstr("not verified"));
  EXPECT_THAT(records[1]["reason"].get<std::string>(), HasSubstr("no metric"));
  EXPECT_THAT(records[2]["reason"].get<std::string>(), HasSubstr("not a finite number"));
  EXPECT_EQ(records[3]["reason"], "did not hold: the impossible");
  EXPECT_EQ(records[4]["reason"], "payload 3 differs");
  for (const auto& record : records) EXPECT_EQ(record["status"], "failed");
}

TEST(Run, ANicThatCannotBeMadeReadyFailsEveryRowWithTheReason) {
  const auto ended = spawn({"env", "MARROW_TRIAL_NIC=broken", TRIAL_TOOL, "run", "passes", "--json", "-"});
  EXPECT_EQ(ended.code, 1);
  const auto document = json::parse(ended.out);
  for (const auto& record : document["records"]) EXPECT_EQ(record["reason"], "the NIC is on fire");
}

TEST(Run, OnlyWaivedRowsEndWith77) {
  EXPECT_EQ(document({"is-waived"}, 77)["records"][0]["reason"], "no second node here");
  EXPECT_EQ(document({"is-waived", "passes"}, 0)["records"][0]["status"], "waived");
}

TEST(Run, AGpuLaneIsWaivedWithTheReason) {
  const auto records = document({"passes", "--lane", "gpu"}, 77)["records"];
  EXPECT_EQ(records[0]["lane"], "gpu");
  EXPECT_EQ(records[0]["reason"], "no GPU in this trial; try --lane host");
}

// --- what goes where ---

TEST(Run, JsonOnStdoutIsTheOnlyThingThere) {
  const auto ended = tool({"run", "passes", "--json", "-"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_TRUE(json::accept(ended.out));
  EXPECT_THAT(ended.err, IsEmpty());
}

TEST(Run, ATableAndAFileHoldTheSameRun) {
  const auto file = std::filesystem::path(::testing::TempDir()) / "cli_run_test.json";
  const auto ended = tool({"run", "passes", "--iterations", "33", "--json", file.string()});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("3 passed, 0 failed, 0 waived"));
  EXPECT_THAT(ended.out, HasSubstr("link layer    InfiniBand"));
  EXPECT_THAT(ended.out, Not(HasSubstr("\x1b[")));
  std::ifstream in(file);
  EXPECT_EQ(json::parse(in)["records"][0]["metrics"][0]["n"], 33);
  std::filesystem::remove(file);
}

TEST(Run, AFailedStdoutIsAFailure) {
  const auto ended = spawn({"sh", "-c", std::string(TRIAL_TOOL) + " run passes >/dev/full"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("write to stdout"));
}

TEST(Run, PoliciesAxesAndIterationsAreObeyed) {
  const auto records =
      document({"passes", "--policy", "safe", "--axis", "bytes=8,16", "--axis", "payload=pointer", "--iterations", "7"},
               0)["records"];
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1]["policy"], "safe");
  EXPECT_EQ(records[1]["axes"]["bytes"], 16);
  EXPECT_EQ(records[1]["operations"], 7);
}

TEST(Run, AnEnvironmentTwinIsObeyedAndTheCommandLineWins) {
  auto ended = spawn({"env", "MARROW_ITERATIONS=9", TRIAL_TOOL, "run", "passes", "--json", "-"});
  EXPECT_EQ(json::parse(ended.out)["records"][0]["operations"], 9);
  ended = spawn({"env", "MARROW_ITERATIONS=9", TRIAL_TOOL, "run", "passes", "--json", "-", "--iterations", "4"});
  EXPECT_EQ(json::parse(ended.out)["records"][0]["operations"], 4);
}

TEST(Run, ARealMlx5DeviceIsPreferredWhenThereIsOne) {
  EXPECT_EQ(json::parse(tool({"run", "passes", "--json", "-"}).out)["records"][0]["nic"], "mlx5_0");
  EXPECT_EQ(document({"passes"}, 0)["records"][0]["nic"], "cx7-sim");
}

// --- the other commands ---

TEST(Sim, TheCommandsStatusPassesThroughWhateverBecomesOfTheFiles) {
  auto ended = tool({"sim", "--stats=/dev/full", "--", "sh", "-c", "exit 7"});
  EXPECT_EQ(ended.code, 7);
  EXPECT_THAT(ended.err, HasSubstr("error: cannot write /dev/full"));
  ended = tool({"sim", "--stats=/dev/full", "--", "true"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("error: cannot write /dev/full"));
}

TEST(List, ShowsEveryExperimentAndWithAPatternItsPoliciesAndAxes) {
  auto ended = tool({"list"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, HasSubstr("measures-nan"));
  EXPECT_THAT(ended.out, HasSubstr("runs here on host lanes"));
  EXPECT_THAT(ended.out, HasSubstr("gpu is waived here: no GPU in this trial; try --lane host"));
  EXPECT_THAT(ended.out, HasSubstr("deepep: Marrow does not contain DeepEP; it would need DeepEP V1"));
  ended = tool({"list", "dci-pool"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("waived    the pool is NVSHMEM's"));
  EXPECT_THAT(ended.out, HasSubstr("public, rc=2 dci_asked=1 dci=1: put+completion: 13.86 us on P-GB200 (Table 8)"));
  ended = tool({"list", "passes"});
  EXPECT_THAT(ended.out, HasSubstr("fast, safe"));
  EXPECT_THAT(ended.out, HasSubstr("bytes: payload (8; any multiple of 4 within 8 and 64)"));
  EXPECT_THAT(ended.out, HasSubstr("payload: inline, pointer"));
}

TEST(Help, EachCommandHasAPageAndTheMainPageNamesTheExitCodes) {
  for (const auto* command : {"list", "run", "suite", "compare", "merge", "report", "trace", "sim"}) {
    const auto ended = tool({command, "--help"});
    EXPECT_EQ(ended.code, 0);
    EXPECT_THAT(ended.out, StartsWith(std::string("marrow ") + command));
  }
  EXPECT_THAT(tool({"--help"}).out, HasSubstr("77 nothing could run here"));
  EXPECT_THAT(tool({"--version"}).out, StartsWith("marrow 0."));
}

}  // namespace
}  // namespace marrow::cli
