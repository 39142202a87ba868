// SPDX-License-Identifier: Apache-2.0
// From looks at a GPU to a row's state; on host lanes there is none.
#include "cli/hardware.h"

#include <gmock/gmock.h>

namespace marrow::cli {
namespace {

using ::testing::ElementsAre;

TEST(StateOf, AnIdleGpusClockIsNoRows) {
  const std::vector<gpu::NvmlLook> looks{{.sm_mhz = 345, .power_w = 80, .reasons = 1},
                                         {.sm_mhz = 1980, .power_w = 130, .reasons = 0},
                                         {.sm_mhz = 1965, .power_w = 120, .reasons = 4}};
  const auto state = state_of(looks);
  EXPECT_EQ(state.looks, 3U);
  EXPECT_EQ(state.sm_mhz.before, 1980);
  EXPECT_EQ(state.sm_mhz.least, 1965);
  EXPECT_EQ(state.power_w.least, 80);
  EXPECT_FALSE(state.temperature_c.before.has_value());
  EXPECT_THAT(state.slowed_by, ElementsAre("software power cap"));
}

TEST(RowWatch, OnHostLanesARecordHasNoGpuState) {
  const experiments::Context context;
  measure::Record record;
  RowWatch(context).finish(record);
  EXPECT_FALSE(record.gpu_state.has_value());
}

TEST(AddHardware, WhatTheSoftwareNicHasNotIsSaidAndNotInvented) {
  experiments::Context context;
  context.nic_kind = measure::Kind::kCx7Sim;
  measure::ActivePath path;
  add_hardware(context, path);
  EXPECT_TRUE(path.place.empty());
  ASSERT_EQ(path.unknown.size(), 2U);
  EXPECT_EQ(path.unknown[0].key, "nic_pci");
  EXPECT_EQ(path.unknown[0].reason, "the software NIC is on no PCIe bus");
  EXPECT_EQ(path.unknown[1].key, "place");
}

}  // namespace
}  // namespace marrow::cli
