// SPDX-License-Identifier: Apache-2.0
// control.h: what it refuses, and that its numbers are about the engine that runs.
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <thread>

#include "cx7/shim/device_file_test.h"

namespace marrow::cx7 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::map<std::string, std::uint64_t> stats(int device) {
  std::array<marrow_cx7_stat, 64> list{};
  const int n = marrow_cx7_stats(device, list.data(), static_cast<int>(list.size()));
  std::map<std::string, std::uint64_t> named;
  for (int i = 0; i < n; ++i) named[list[static_cast<std::size_t>(i)].name] = list[static_cast<std::size_t>(i)].value;
  return named;
}

TEST_F(DeviceFileTest, StatsOfADeviceThatDoesNotExistAreRefused) {
  for (const int device : {2, 7, -2}) {
    EXPECT_EQ(marrow_cx7_stats(device, nullptr, 0), -1);
    EXPECT_THAT(marrow_cx7_error(), HasSubstr(std::to_string(device)));
  }
}

TEST_F(DeviceFileTest, StatsNeverWriteBehindTheRoomGiven) {
  std::array<marrow_cx7_stat, 2> list{};
  EXPECT_GT(marrow_cx7_stats(0, list.data(), 1), 10);
  EXPECT_NE(list[0].name, nullptr);
  EXPECT_EQ(list[1].name, nullptr);
}

TEST_F(DeviceFileTest, TheEngineReportsThatItSleeps) {
  const int fd = open_device(0);
  const auto before = stats(MARROW_CX7_ENGINE);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto after = stats(MARROW_CX7_ENGINE);
  EXPECT_GT(after.at("sleeps"), before.at("sleeps"));
  EXPECT_GT(after.at("slept_ns"), before.at("slept_ns"));
  // No queue pair exists: no doorbell can come, and the engine hardly ever looks.
  EXPECT_LT(after.at("steps") - before.at("steps"), 50u);
  ::close(fd);
}

TEST_F(DeviceFileTest, ATraceStartsEmptyAndItsKindsHaveNames) {
  const int fd = open_device(0);
  EXPECT_EQ(marrow_cx7_trace_enable(1), 0);
  std::array<marrow_cx7_trace_event, 4> events{};
  EXPECT_EQ(marrow_cx7_trace_read(events.data(), static_cast<int>(events.size())), 0);
  EXPECT_EQ(marrow_cx7_trace_enable(0), 0);
  EXPECT_STREQ(marrow_cx7_trace_name(0), "doorbell");
  EXPECT_STREQ(marrow_cx7_trace_name(6), "cqe");
  EXPECT_STREQ(marrow_cx7_trace_name(8), "retired");
  EXPECT_EQ(marrow_cx7_trace_name(9), nullptr);
  EXPECT_EQ(marrow_cx7_trace_name(-1), nullptr);
  ::close(fd);
}

TEST_F(DeviceFileTest, TheVersionIsThreeNumbers) {
  int major = -1;
  int minor = -1;
  int patch = -1;
  EXPECT_EQ(std::sscanf(marrow_cx7_version(), "%d.%d.%d", &major, &minor, &patch), 3);
}

}  // namespace
}  // namespace marrow::cx7
