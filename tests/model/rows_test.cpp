// SPDX-License-Identifier: Apache-2.0
// The experiments on connections as the tool runs them: what they refuse, what their records say, and that every value
// of the paper's files belongs to a row.
#include <gmock/gmock.h>

#include "experiments/connections/connections.h"
#include "experiments/connections/modelled.h"
#include "measure/paper.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

using ::testing::HasSubstr;

std::vector<Experiment> all() {
  return {connections_role(), connections_reuse_payload(), connections_all_to_all(), connections_controls()};
}

Context with_profile() {
  return {.nic = "cx7-sim",
          .iterations = 1,
          .profile = std::make_shared<const model::Profile>(model::find_profile("cx7-200g"))};
}

Point role_point(const char* role, std::int64_t connections) {
  return {"rc", "round-robin", {{"role", std::string(role)}, {"bytes", std::int64_t{8}}, {"connections", connections}}};
}

TEST(Connections, WithoutAProfileEveryOneIsWaivedWithWhatToTry) {
  Context context{.nic = "cx7-sim", .iterations = 1};
  for (const auto& experiment : all()) {
    const auto& variant = experiment.variants.front();
    Point point{variant.path, variant.policy, variant.axes};
    if (!experiment.sweeps.empty()) point = role_point("send", 64);
    auto record = blank_record(experiment, point, context);
    EXPECT_EQ(record.lane, "none");
    try {
      run_on_lane(experiment, context, point, record);
      ADD_FAILURE() << experiment.name << " ran without a profile";
    } catch (const util::Error& problem) {
      EXPECT_EQ(problem.kind(), util::ErrorKind::kWaived);
      EXPECT_THAT(problem.what(), HasSubstr("none was named"));
      EXPECT_EQ(problem.hint(), "--profile cx7-200g");
    }
    EXPECT_TRUE(record.metrics.empty());
  }
}

TEST(Connections, ARecordNamesItsProfileAndEveryFigureItsKind) {
  auto context = with_profile();
  measure::ActivePath path;
  context.report_path = [&](const measure::ActivePath& told) { path = told; };
  const auto experiment = connections_role();
  const auto point = role_point("send", 64);
  auto record = blank_record(experiment, point, context);
  run_on_lane(experiment, context, point, record);
  EXPECT_EQ(record.nic, "model:cx7-200g");
  EXPECT_TRUE(measure::is_model(record));
  EXPECT_FALSE(record.verified);
  EXPECT_GT(record.counts.operations, 0U);
  ASSERT_FALSE(record.metrics.empty());
  for (const auto& metric : record.metrics) EXPECT_EQ(metric.kind, measure::Kind::kModel) << metric.name;
  EXPECT_THAT(path.nic, HasSubstr("a model, not a NIC"));
}

TEST(Connections, ARowThatTheModelCannotAnswerSaysWhy) {
  auto context = with_profile();
  std::size_t waived = 0;
  for (const auto& experiment : {connections_all_to_all(), connections_controls()}) {
    for (const auto& variant : experiment.variants) {
      const bool no_answer = variant.path == "dc" || variant.axes.size() == 1;
      if (!no_answer) continue;
      const Point point{variant.path, variant.policy, variant.axes};
      auto record = blank_record(experiment, point, context);
      EXPECT_THROW(experiment.run(context, point, record), util::Error);
      ++waived;
    }
  }
  EXPECT_EQ(waived, 5U);
}

TEST(Connections, AStopIsSeenBetweenTwoPasses) {
  auto context = with_profile();
  std::atomic<bool> stop{true};
  context.stop = &stop;
  const auto experiment = connections_role();
  const auto point = role_point("send", 64);
  auto record = blank_record(experiment, point, context);
  EXPECT_THROW(experiment.run(context, point, record), util::Error);
}

TEST(Connections, PassesDifferByTheirSeedOnly) {
  auto context = with_profile();
  context.iterations = 3;
  const auto experiment = connections_role();
  const auto point = role_point("both", 2048);
  auto record = blank_record(experiment, point, context);
  experiment.run(context, point, record);
  const auto& rate = record.metrics.front().summary;
  EXPECT_EQ(rate.n, 24U);  // 8 senders, 3 passes
  EXPECT_LT(rate.iqr() / rate.p50, 0.05);
  EXPECT_GT(rate.max, rate.min);
}

}  // namespace
}  // namespace marrow::experiments
