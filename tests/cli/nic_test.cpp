// SPDX-License-Identifier: Apache-2.0
// Which NIC is chosen on which machine.
#include "cli/nic.h"

#include <gmock/gmock.h>

#include "util/error.h"

namespace marrow::cli {
namespace {

using ::testing::ElementsAre;

TEST(ChooseNic, ADeviceThatIsNotThereIsRefused) {
  EXPECT_THROW((void)choose_nic("mlx5_0", {}), util::Error);
  EXPECT_THROW((void)choose_nic("mlx5_0,mlx5_9", {"mlx5_0"}), util::Error);
  EXPECT_THROW((void)choose_nic("mlx5_0,", {"mlx5_0"}), util::Error);
}

TEST(ChooseNic, WithoutARealMlx5DeviceItIsTheSoftwareNic) {
  for (const auto& real : {std::vector<std::string>{}, std::vector<std::string>{"rxe0", "irdma0"}}) {
    const auto nic = choose_nic("", real);
    EXPECT_TRUE(nic.software);
    EXPECT_EQ(nic.name, "cx7-sim");
    EXPECT_THAT(nic.devices, ElementsAre("mlx5_sim0", "mlx5_sim1"));
  }
}

TEST(ChooseNic, ARealOneIsLoopbackAndTwoAreAPair) {
  EXPECT_THAT(choose_nic("", {"irdma0", "mlx5_2"}).devices, ElementsAre("mlx5_2", "mlx5_2"));
  EXPECT_THAT(choose_nic("mlx5_0,mlx5_1", {"mlx5_0", "mlx5_1"}).devices, ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_FALSE(choose_nic("mlx5_0", {"mlx5_0"}).software);
}

TEST(ChooseNic, TheSoftwareNicCanBeHadBesideARealOne) {
  EXPECT_TRUE(choose_nic("cx7-sim", {"mlx5_0"}).software);
}

}  // namespace
}  // namespace marrow::cli
