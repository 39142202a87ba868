// SPDX-License-Identifier: Apache-2.0
// Which lane and which engine a run gets; the sentences of the refusals are in run_test.cpp.
#include "cli/lane.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "util/error.h"

namespace marrow::cli {
namespace {

const NicChoice kSoftware{.name = "cx7-sim", .devices = {"mlx5_sim0", "mlx5_sim1"}, .software = true};
const NicChoice kReal{.name = "mlx5_0", .devices = {"mlx5_0", "mlx5_0"}};

TEST(ChooseLane, WordsThatAreNoLaneOrEngineAreRefused) {
  for (const auto* lane : {"", "gpu:", "gpu:-1", "gpu:1x", "GPU"}) {
    EXPECT_THROW((void)choose_lane(lane, "", kSoftware), util::Error) << lane;
  }
  for (const auto* engine : {"host", "gpu:", "gpu:one"}) {
    EXPECT_THROW((void)choose_lane("host", engine, kSoftware), util::Error) << engine;
  }
}

TEST(ChooseLane, ARealNicHasNoEngine) {
  EXPECT_THROW((void)choose_lane("gpu", "auto", kReal), util::Error);
  EXPECT_EQ(choose_lane("gpu", "", kReal).gpu, 0);
}

TEST(ChooseLane, GpuIsTheFirstOne) {
  EXPECT_EQ(choose_lane("gpu", "", kSoftware).gpu, 0);
  EXPECT_EQ(choose_lane("gpu:3", "", kSoftware).gpu, 3);
  EXPECT_EQ(choose_lane("host", "gpu:1", kSoftware).gpu, std::nullopt);
  EXPECT_EQ(choose_lane("host", "gpu:1", kSoftware).engine_gpu, 1);
  EXPECT_EQ(choose_lane("host", "cpu", kSoftware).engine_gpu, std::nullopt);
}

TEST(Describe, OpensEachGpuOnceAndSaysWhichEngineWasAskedFor) {
  std::vector<int> opened;
  const OpenGpu open = [&](int index) {
    opened.push_back(index);
    return std::shared_ptr<gpu::Device>();
  };
  ::setenv("MARROW_SIM_ENGINE", "gpu:1", 1);
  experiments::Context context{.nic_kind = measure::Kind::kCx7Sim};
  describe(choose_lane("gpu", "gpu:1", kSoftware), open, context);
  EXPECT_THAT(opened, ::testing::ElementsAre(0, 1));
  EXPECT_EQ(context.engine, "gpu:1");
  opened.clear();
  describe(choose_lane("gpu:1", "gpu:1", kSoftware), open, context);
  EXPECT_THAT(opened, ::testing::ElementsAre(1));
  opened.clear();
  describe(choose_lane("host", "", kSoftware), open, context);
  EXPECT_THAT(opened, ::testing::IsEmpty());
  ::unsetenv("MARROW_SIM_ENGINE");
}

TEST(SetEngine, NothingSaidLeavesTheEnvironmentAsItIs) {
  ::setenv("MARROW_SIM_ENGINE", "cpu", 1);
  set_engine("");
  EXPECT_STREQ(std::getenv("MARROW_SIM_ENGINE"), "cpu");
  set_engine("auto");
  EXPECT_STREQ(std::getenv("MARROW_SIM_ENGINE"), "auto");
  ::unsetenv("MARROW_SIM_ENGINE");
}

}  // namespace
}  // namespace marrow::cli
