// SPDX-License-Identifier: Apache-2.0
// The experiments whose result is a count, as a user runs them on host lanes: ordering-litmus, host-doorbell,
// gdaki-publication.
#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "experiments/rows.h"
#include "marrow/gda/policy.h"

namespace marrow::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class StrictEnvironment {
 public:
  StrictEnvironment() { ::setenv("MARROW_SIM_STRICT", "1", 1); }
  ~StrictEnvironment() { ::unsetenv("MARROW_SIM_STRICT"); }
  StrictEnvironment(const StrictEnvironment&) = delete;
  StrictEnvironment& operator=(const StrictEnvironment&) = delete;
};

TEST(OrderingLitmus, RefusesAStrictNicWhichWouldEndTheQueueAtTheFirstFinding) {
  const StrictEnvironment strict;
  const auto ended = run({"ordering-litmus", "--policy", "sys-fence", "--axis", "queues=host", "--axis",
                          "beside=nothing", "--axis", "batch=1"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.out, HasSubstr("counts what a strict software NIC refuses"));
}

TEST(OrderingLitmus, HostLanesCannotPostToQueuesInGpuMemoryAndHaveNoCrowd) {
  for (const auto* axis : {"queues=gpu", "beside=stores"}) {
    const auto ended = run({"ordering-litmus", "--policy", "none", "--axis", axis});
    EXPECT_EQ(ended.code, 77) << ended.err;
  }
}

// On a host lane every recipe orders but `none`, which therefore expects nothing.
TEST(OrderingLitmus, NothingIsSeenWhereARecipePromisesItAndTheBoundIsThreeOverTheTries) {
  const auto records =
      records_of({"ordering-litmus", "--axis", "queues=host", "--axis", "beside=nothing", "--iterations", "8000"});
  ASSERT_EQ(records.size(), 6 * gda::OrderingPolicies::size);
  for (const auto& record : records) {
    const auto label = record["policy"].get<std::string>();
    EXPECT_EQ(record["status"], "passed") << label << record["reason"];
    EXPECT_TRUE(record["verified"]);
    const auto metrics = metrics_of(record);
    EXPECT_EQ(metrics.count("issue"), 1U) << "the price stands beside";
    const auto rung = record["axes"]["doorbell"] == "word" ? 1U : 0U;  // the host rang for every announcement
    ASSERT_EQ(record["expect"].size(), rung + (label == "none" ? 0U : 1U)) << label;
    if (label == "none") continue;
    for (const auto* name : {"stale WQEs, at most", "wrong payloads, at most", "early CQEs, at most"}) {
      ASSERT_EQ(metrics.count(name), 1U) << label << ": " << name;
      const auto& bound = metrics.at(name);
      EXPECT_NEAR(bound["p50"].get<double>(), 3e6 / bound["n"].get<double>(), 1e-6) << label;
    }
    const bool batched = record["axes"]["batch"] == 16;
    EXPECT_EQ(metrics.at("stale WQEs, at most")["n"], batched ? 8000 + 1600 : 800 + 100) << label;
  }
}

TEST(OrderingLitmus, RowsOfOtherExperimentsKeepTheirStrictNic) {
  const auto records = records_of({"single-op", "ordering-litmus", "ordering", "--policy", "gpu-fence", "--axis",
                                   "payload=inline", "--iterations", "1000"});
  std::set<std::string> passed;
  for (const auto& record : records) {
    if (record["status"] == "passed") passed.insert(record["experiment"]);
    EXPECT_NE(record["status"], "failed") << record["reason"];
  }
  EXPECT_EQ(passed, (std::set<std::string>{"single-op", "ordering-litmus", "ordering"}));
}

TEST(HostDoorbell, TheHostWritesTheRecordAndTheExtraTimeStandsBesideThePapers) {
  const auto records = records_of({"host-doorbell", "--iterations", "300"});
  ASSERT_EQ(records.size(), 2U);
  for (const auto& record : records) EXPECT_EQ(record["status"], "passed") << record["reason"];
  EXPECT_EQ(records[0]["counts"]["dbrec_writes"], 1);
  EXPECT_EQ(records[1]["counts"]["dbrec_writes"], 0);
  EXPECT_EQ(records[1]["counts"]["doorbells"], 1) << "the word for the host";
  const auto metrics = metrics_of(records[1]);
  EXPECT_EQ(metrics.at("extra put+completion")["paper"][0]["value"], 2.6);
  EXPECT_THAT(records[1]["doorbell_mapping"].get<std::string>(), HasSubstr("a host thread reads it"));
}

TEST(GdakiPublication, EachWayHasItsOwnAtomicsFencesRecordsAndDoorbells) {
  const auto records = records_of({"gdaki-publication", "--axis", "queues=1", "--iterations", "300"});
  ASSERT_EQ(records.size(), 10U);
  std::map<std::string, std::array<int, 4>> seen;
  for (const auto& record : records) {
    EXPECT_EQ(record["status"], "passed") << record["reason"];
    const auto& c = record["counts"];
    seen[record["policy"]] = {c["atomics"], c["gpu_fences"], c["dbrec_writes"], c["doorbells"]};
  }
  const std::map<std::string, std::array<int, 4>> expected{
      {"exclusive", {0, 1, 1, 1}},        {"lock-per-wqe", {2, 2, 1, 1}}, {"ready-index", {4, 4, 1, 1}},
      {"compare-swap", {5, 3, 1, 1}},     {"turn-is-lock", {2, 1, 1, 1}}, {"atomic-max", {4, 2, 0, 1}},
      {"gdaki-2.28", {4, 5, 1, 2}},       {"gdaki-2.30", {5, 4, 1, 2}},   {"gdaki-reliable", {4, 3, 0, 1}},
      {"gdaki-cpu-handler", {3, 3, 0, 1}}};
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace marrow::cli
