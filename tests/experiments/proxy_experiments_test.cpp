// SPDX-License-Identifier: Apache-2.0
// The experiments of section 4.2 as a user runs them on host lanes: what they refuse, then a short run of each. What a
// reserved ring or a chain must gain is expected by the rows that load the NIC fully; these here are too short for it.
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "experiments/rows.h"

namespace marrow::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::map<std::string, json> passed_metrics(const json& record) {
  EXPECT_EQ(record["status"], "passed") << record["reason"];
  EXPECT_TRUE(record["verified"]);
  return metrics_of(record);
}

void expect_usage_error(const std::vector<std::string>& words, const std::string& sentence) {
  const auto ended = run(words);
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr(sentence));
}

TEST(Refuses, AnAxisThatIsNotThere) {
  expect_usage_error({"proxy-rate", "--axis", "lanes=3"}, "proxy-rate has no axis 'lanes'");
  expect_usage_error({"goodput", "--axis", "bytes=8"}, "goodput has no axis 'bytes'");
}

TEST(Refuses, WorkersRingsAndBatchesOutOfRange) {
  expect_usage_error({"proxy-rate", "--axis", "workers=0"}, "axis 'workers': 0 is not within 1 and 32");
  expect_usage_error({"proxy-rate", "--axis", "workers=33"}, "axis 'workers': 33 is not within 1 and 32");
  expect_usage_error({"proxy-rate", "--axis", "batch=0"}, "axis 'batch': 0 is not within 1 and 256");
  expect_usage_error({"proxy-rate", "--axis", "batch=257"}, "axis 'batch': 257 is not within 1 and 256");
  expect_usage_error({"proxy-rate", "--axis", "rings=31"}, "axis 'rings' of proxy-rate has no value '31'");
  expect_usage_error({"queue-isolation", "--axis", "workers=3"}, "axis 'workers' of queue-isolation has no value '3'");
}

TEST(Refuses, LoadsPacesAndPayloadsOutOfRange) {
  expect_usage_error({"loaded-rtt", "--axis", "background=65"}, "65 is not within 0 and 64");
  expect_usage_error({"queue-isolation", "--axis", "pace_kmsg=-1"}, "-1 is not within 0");
  expect_usage_error({"latency-payload", "--axis", "bytes=12"}, "12 is not a multiple of 8");
  expect_usage_error({"latency-payload", "--axis", "bytes=2097152"}, "is not within 8 and 1048576");
  expect_usage_error({"proxy-clock-state", "--axis", "idle_ms=120001"}, "is not within 0 and 120000");
}

TEST(ProxyRate, MoreWorkersThanCoresAreWaivedWithASentence) {
  if (std::thread::hardware_concurrency() >= 32) GTEST_SKIP() << "this machine has a core for each";
  const auto ended = run({"proxy-rate", "--axis", "workers=32", "--axis", "batch=1"});
  EXPECT_EQ(ended.code, 77) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("32 workers want a core each"));
}

TEST(ProxyRate, EachMessageIsExecutedOnceAndARowWithChainsHasOneRequestAPostBesideIt) {
  const auto records = records_of({"proxy-rate", "--axis", "workers=1", "--iterations", "2", "--warmup", "0"});
  ASSERT_EQ(records.size(), 2U);
  constexpr int kMessages = 2 * 32 * 1024;
  for (const auto& record : records) {
    const auto metrics = passed_metrics(record);
    const bool chained = record["axes"]["batch"] == 16;
    EXPECT_EQ(metrics.at("message rate")["n"], 2);
    EXPECT_EQ(record["operations"], chained ? 2 * kMessages : kMessages);
    EXPECT_EQ(metrics.count("rate of batch 1 beside it"), chained ? 1U : 0U);
    EXPECT_THAT(record["expect"][0]["text"].get<std::string>(),
                HasSubstr(chained ? "exactly the 131072 WQEs" : "exactly the 65536 WQEs"));
    EXPECT_EQ(metrics.at("message rate")["paper"][0]["value"], chained ? 14.4 : 2.6);
  }
}

TEST(ProxyIdleRtt, TheTunedRowHasTheBaselineAndMiniGdaBesideIt) {
  const auto records = records_of({"proxy-idle-rtt", "--iterations", "50", "--warmup", "20"});
  ASSERT_EQ(records.size(), 2U);
  const auto baseline = passed_metrics(records[0]);
  const auto tuned = passed_metrics(records[1]);
  for (const auto* name : {"enqueue", "put+completion", "round trip"}) {
    EXPECT_EQ(baseline.at(name)["n"], 50) << name;
    EXPECT_EQ(tuned.at(name)["n"], 50) << name;
  }
  EXPECT_EQ(tuned.at("enqueue")["kind"], "host-lane");
  EXPECT_EQ(tuned.at("round trip")["kind"], "cx7-sim");
  EXPECT_EQ(tuned.at("round trip")["paper"][0]["value"], 5.89);
  EXPECT_EQ(tuned.at("round trip, baseline beside it")["n"], 50);
  EXPECT_EQ(tuned.at("put+completion, mini-gda beside it")["n"], 50);
}

TEST(LoadedRtt, WhatTheBulkCarriedStandsBesideEachLatency) {
  const auto records = records_of({"loaded-rtt", "--axis", "background=0,4", "--iterations", "10"});
  ASSERT_EQ(records.size(), 4U);
  for (const auto& record : records) {
    const auto metrics = passed_metrics(record);
    const bool loaded = record["axes"]["background"] == 4;
    for (const std::string queue : {"shared queue", "reserved queue"}) {
      EXPECT_EQ(metrics.at("round trip, " + queue)["n"], 10);
      EXPECT_EQ(metrics.count("bulk carried, " + queue), loaded ? 1U : 0U);
      if (!loaded) continue;
      EXPECT_GT(metrics.at("bulk carried, " + queue)["p50"], 0);
      EXPECT_GT(metrics.at("bulk carried at the far end, " + queue)["p50"], 0);
    }
    EXPECT_EQ(record["expect"].size() + record["warnings"].size(), 2U) << "who was the limit, for each queue";
  }
}

TEST(QueueIsolation, APacedBulkIsTheSameForEachTransport) {
  const auto records =
      records_of({"queue-isolation", "--axis", "pace_kmsg=20", "--axis", "rings=8", "--iterations", "10"});
  ASSERT_EQ(records.size(), 1U);
  const auto metrics = passed_metrics(records[0]);
  EXPECT_GT(metrics.at("bulk carried, reserved queue")["p50"], 0);
  EXPECT_LT(metrics.at("bulk carried, reserved queue")["p50"], 0.2) << "held at 0.02 M msg/s";
  EXPECT_EQ(metrics.count("shared / reserved"), 0U) << "asked of unpaced rows alone";
}

TEST(BatchUnderLoad, BothBatchesHaveTheirLatencyAndTheirLoad) {
  const auto records = records_of({"batch-under-load", "--iterations", "10"});
  ASSERT_EQ(records.size(), 1U);
  const auto metrics = passed_metrics(records[0]);
  EXPECT_EQ(metrics.at("round trip, batch 1")["paper"][0]["value"], 255);
  EXPECT_EQ(metrics.at("round trip, batch 16")["paper"][0]["value"], 272);
  EXPECT_EQ(metrics.at("bulk carried, batch 16 / batch 1")["paper"][0]["value"], 5.2);
}

TEST(ProxyClockState, BothStatesAreInOneRow) {
  const auto records =
      records_of({"proxy-clock-state", "--axis", "idle_ms=10", "--axis", "load_ms=10", "--iterations", "20"});
  ASSERT_EQ(records.size(), 2U);
  const auto metrics = passed_metrics(records[1]);
  for (const std::string state : {"cold", "warm"}) {
    EXPECT_GT(metrics.at("core clock, " + state)["p50"], 100) << "MHz";
    EXPECT_EQ(metrics.at("put+completion, " + state)["n"], 20);
    EXPECT_EQ(metrics.at("round trip, " + state)["n"], 20);
    EXPECT_GT(metrics.at("message rate of batch 16, " + state)["p50"], 0);
  }
  EXPECT_EQ(metrics.at("p99 of the round trip, warm")["paper"][0]["value"], 5.57);
}

TEST(Goodput, EachSizeAndTheLinksOwnReference) {
  const auto records = records_of({"goodput", "--iterations", "2"});
  ASSERT_GE(records.size(), 2U);
  for (const auto& record : records) {
    if (record["status"] == "waived") continue;
    const auto metrics = passed_metrics(record);
    for (const auto* bytes : {"8", "512", "7168", "65536"}) {
      EXPECT_GT(metrics.at("goodput, " + std::string(bytes) + " B")["p50"], 0) << bytes;
    }
    EXPECT_EQ(metrics.at("reference, 1 MiB writes of mini-gda")["unit"], "GB/s");
  }
}

TEST(LatencyPayload, EveryByteOfALongPayloadIsCompared) {
  const auto records = records_of({"latency-payload", "--axis", "bytes=8,1048576", "--iterations", "8"});
  ASSERT_EQ(records.size(), 4U);
  for (const auto& record : records) {
    const auto metrics = passed_metrics(record);
    EXPECT_EQ(metrics.at("put+completion")["n"], 8);
    EXPECT_EQ(metrics.count("issue") + metrics.count("enqueue"), 1U);
  }
}

}  // namespace
}  // namespace marrow::cli
