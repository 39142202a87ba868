// SPDX-License-Identifier: Apache-2.0
// The tool as a user runs it, on the software NIC: every experiment passes with verified bytes and exact counts.
#include <gmock/gmock.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/spawn.h"
#include "marrow/gda/policy.h"

namespace marrow::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Ended tool(std::vector<std::string> words) {
  words.insert(words.begin(), MARROW_TOOL);
  return spawn(words);
}

json records_of(std::vector<std::string> words) {
  words.insert(words.begin(), {"run", "--nic", "cx7-sim", "--json", "-"});
  const auto ended = tool(words);
  EXPECT_EQ(ended.code, 0) << ended.err << ended.out;
  return json::parse(ended.out)["records"];
}

std::map<std::string, int> samples_of(const json& record) {
  std::map<std::string, int> samples;
  for (const auto& metric : record["metrics"]) samples[metric["name"]] = metric["n"];
  return samples;
}

TEST(List, TellsEachExperimentsRowsAxesAndNeeds) {
  for (const auto* name : {"single-op", "ordering", "inline-payload", "timer-check"}) {
    const auto ended = tool({"list", name});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(std::string(name) + ": "));
  }
  EXPECT_THAT(tool({"list", "single-op"}).out, HasSubstr("payload: inline, pointer"));
}

TEST(Refuses, ARealDeviceThatIsNotThere) {
  const auto ended = tool({"run", "single-op", "--nic", "mlx5_99"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("no NIC 'mlx5_99'"));
}

TEST(Refuses, TracingWhatHasNoSingleMessage) {
  EXPECT_EQ(tool({"trace", "inline-payload"}).code, 2);
}

TEST(Sim, PassesTheCommandsExitStatusOn) {
#ifdef MARROW_SANITIZED
  GTEST_SKIP() << "an instrumented library cannot be preloaded without its runtime";
#endif
  EXPECT_EQ(tool({"sim", "--", "sh", "-c", "exit 41"}).code, 41);
  EXPECT_EQ(tool({"sim", "--", "true"}).code, 0);
}

TEST(Sim, ACommandThatIsNotThereIs127WithASentence) {
  const auto ended = tool({"sim", "--", "no-such-command-at-all"});
  EXPECT_EQ(ended.code, 127);
  EXPECT_THAT(ended.err, HasSubstr("error: cannot run 'no-such-command-at-all'"));
}

TEST(SingleOp, HasEveryMetricWithAThousandSamplesAndOneOfEachPerOperation) {
  const auto records = records_of({"single-op"});
  ASSERT_EQ(records.size(), 4U);
  for (const auto& record : records) {
    EXPECT_EQ(record["status"], "passed") << record["reason"];
    EXPECT_TRUE(record["verified"]);
    const auto samples = samples_of(record);
    for (const auto* name : {"issue", "put+completion", "round trip"}) EXPECT_GE(samples.at(name), 1000) << name;
    if (record["path"] == "verbs") continue;
    for (const auto* name : {"wqes", "wqebbs", "doorbells", "dbrec_writes", "cqes"})
      EXPECT_EQ(record["counts"][name], 1);
    EXPECT_EQ(record["counts"]["wqe_stores"], 3);
    EXPECT_EQ(record["counts"]["atomics"], 0);
  }
}

TEST(SingleOp, KindsOfTimeAreToldApart) {
  const auto records = records_of({"single-op", "--policy", "gpu-fence", "--iterations", "50"});
  for (const auto& metric : records[0]["metrics"]) {
    const bool of_the_lane = metric["name"] == "issue" || metric["name"].get<std::string>().starts_with("stage");
    EXPECT_EQ(metric["kind"], of_the_lane ? "host-lane" : "cx7-sim") << metric["name"];
  }
}

TEST(SingleOp, ThePapersValuesAreThoseOfTable3) {
  const auto record = records_of({"single-op", "--policy", "gpu-fence", "--iterations", "50"})[0];
  EXPECT_EQ(record["metrics"][0]["paper"][0]["value"], 0.7);
  EXPECT_EQ(record["metrics"][0]["paper"][0]["source"], "arXiv:2610.01380 Table 3");
}

TEST(Ordering, ARowForEachRecipeWithItsFences) {
  const auto records = records_of({"ordering", "--iterations", "200"});
  ASSERT_EQ(records.size(), gda::OrderingPolicies::size);
  std::map<std::string, std::array<int, 3>> seen;
  for (const auto& record : records) {
    EXPECT_EQ(record["status"], "passed") << record["reason"];
    const auto& c = record["counts"];
    seen[record["policy"]] = {c["gpu_fences"], c["system_fences"], c["release_stores"]};
  }
  const std::map<std::string, std::array<int, 3>> expected{
      {"none", {0, 0, 0}},        {"gpu-fence", {1, 0, 0}},         {"gpu-fence-dbrec", {2, 0, 0}},
      {"threadfence", {2, 0, 0}}, {"gpu-release-store", {0, 0, 2}}, {"sys-release-store", {0, 0, 1}},
      {"sys-fence", {0, 1, 0}}};
  for (const auto& [policy, fences] : expected) EXPECT_EQ(seen[policy], fences) << policy;
}

TEST(InlinePayload, EachFurtherSixteenBytesAreOneStoreMoreAndAPointerIsAlwaysThree) {
  const auto records = records_of({"inline-payload", "--iterations", "100", "--axis", "bytes=4,12,28,44,220"});
  ASSERT_EQ(records.size(), 10U);
  const std::map<int, int> stores{{4, 3}, {12, 3}, {28, 4}, {44, 5}, {220, 16}};
  for (const auto& record : records) {
    EXPECT_EQ(record["status"], "passed") << record["reason"];
    const bool is_inline = record["axes"]["payload"] == "inline";
    EXPECT_EQ(record["counts"]["wqe_stores"], is_inline ? stores.at(record["axes"]["bytes"]) : 3);
    EXPECT_GT(samples_of(record).at("message rate"), 0);
  }
}

std::map<std::string, int> statuses_of(const json& records) {
  std::map<std::string, int> counts;
  for (const auto& record : records) ++counts[record["status"].get<std::string>()];
  return counts;
}

TEST(GpuRate, ARowOfOneThreadCountsWhatTheNicExecutedAndTheOthersAreWaivedOnHostLanes) {
  const auto records = records_of({"gpu-rate", "--iterations", "3"});
  const std::map<std::string, int> expected{{"passed", 2}, {"waived", static_cast<int>(records.size()) - 2}};
  EXPECT_EQ(statuses_of(records), expected);
  for (const auto& record : records) {
    if (record["status"] == "waived") continue;
    EXPECT_EQ(samples_of(record).at("message rate"), 3);
    EXPECT_EQ(record["operations"], 3 * 4096);
    ASSERT_EQ(record["expect"].size(), 1U);
    EXPECT_THAT(record["expect"][0]["text"].get<std::string>(), HasSubstr("exactly the 12288 WQEs"));
    EXPECT_EQ(record["metrics"][0]["paper"][0]["source"], "arXiv:2610.01380 Table 5");
  }
}

TEST(QueuePlacement, AHostLaneHasTheRowsWithAllQueuesInHostMemory) {
  const auto records = records_of({"queue-placement", "--iterations", "50"});
  EXPECT_EQ(statuses_of(records), (std::map<std::string, int>{{"passed", 2}, {"waived", 6}}));
  for (const auto& record : records) EXPECT_EQ(record["status"] == "passed", record["axes"]["host_memory"] == "all");
}

TEST(CompletionScope, EachScopeWaitsForThePutWhateverTheNumberOfQueues) {
  const auto records = records_of({"completion-scope", "--iterations", "50", "--axis", "queues=1,40"});
  ASSERT_EQ(records.size(), 12U);
  for (const auto& record : records) {
    EXPECT_EQ(record["status"], "passed") << record["reason"];
    EXPECT_EQ(samples_of(record).at("put+completion"), 50);
  }
}

TEST(CompletionBreakdown, TheInstrumentedRunsValueStandsBeside) {
  const auto record = records_of({"completion-breakdown", "--iterations", "50"})[0];
  EXPECT_EQ(record["status"], "passed") << record["reason"];
  for (const auto& metric : record["metrics"]) {
    if (metric["name"] == "doorbell to CQE") {
      EXPECT_EQ(metric["paper"][0]["value"], 3.3);
    }
  }
  EXPECT_EQ(samples_of(record).count("doorbell to CQE"), 1U);
}

TEST(TimerCheck, TheDelayIsSeenAndItsExpectationIsInTheRecord) {
  const auto record = records_of({"timer-check"})[0];
  EXPECT_EQ(record["status"], "passed") << record["reason"];
  ASSERT_EQ(record["expect"].size(), 1U);
  EXPECT_TRUE(record["expect"][0]["held"]);
}

TEST(Null, TellsWhatTheHarnessAddsBesideItsClock) {
  const auto record = records_of({"null", "--iterations", "100"})[0];
  EXPECT_EQ(record["status"], "passed") << record["reason"];
  EXPECT_TRUE(record["verified"]);
  const auto samples = samples_of(record);
  for (const auto* name : {"issue, nothing inside", "put+completion, nothing inside", "clock reading", "added to issue",
                           "added to put+completion"}) {
    ASSERT_EQ(samples.count(name), 1U) << name;
    EXPECT_EQ(samples.at(name), 100) << name;
  }
}

TEST(Trace, TellsTheNineStopsInOrder) {
  for (const auto* policy : {"gpu-fence", "none"}) {
    const auto ended = tool({"trace", "single-op", "--policy", policy});
    EXPECT_EQ(ended.code, 0) << ended.err;
    std::size_t at = 0;
    for (int stop = 1; stop <= 9; ++stop) {
      at = ended.out.find("\n " + std::to_string(stop) + "  ", at);
      ASSERT_NE(at, std::string::npos) << "stop " << stop << " of\n" << ended.out;
    }
    EXPECT_THAT(ended.out, HasSubstr("Status ok"));
  }
}

}  // namespace
}  // namespace marrow::cli
