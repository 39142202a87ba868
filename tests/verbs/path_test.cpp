// SPDX-License-Identifier: Apache-2.0
// What needs no device: names for people, UDP ports, and the refusal of a device that is not there.
#include "verbs/path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"
#include "verbs/devx.h"

namespace marrow::verbs {
namespace {

TEST(Context, RefusesADeviceThatIsNotThereAsAWrongRequest) {
  try {
    const Context context("mlx5_nowhere");
    FAIL();
  } catch (const util::Error& error) {
    EXPECT_EQ(error.kind(), util::ErrorKind::kUsage);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("no device named 'mlx5_nowhere'"));
    EXPECT_THAT(error.hint(), ::testing::StartsWith("--nic "));
  }
}

TEST(HostBuffer, BeginsAndEndsOnSixtyFourKibibytesAndIsZeroed) {
  const HostBuffer buffer(100);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % HostBuffer::kAlign, 0u);
  EXPECT_EQ(buffer.bytes(), HostBuffer::kAlign);
  EXPECT_TRUE(std::all_of(buffer.data(), buffer.data() + buffer.bytes(), [](std::byte b) { return b == std::byte{}; }));
}

TEST(UdpSourcePort, IsTheSameBothWaysAndWithinTheDevicesRange) {
  const Capabilities limits{.min_udp_sport = 0xd000, .max_udp_sport = 0xd0ff};
  bool differs = false;
  for (std::uint32_t qpn = 0x10040; qpn < 0x10080; ++qpn) {
    const auto port = udp_source_port(qpn, 0x20040, limits);
    EXPECT_EQ(port, udp_source_port(0x20040, qpn, limits));
    EXPECT_GE(port, 0xd000);
    EXPECT_LE(port, 0xd0ff);
    differs = differs || port != udp_source_port(0x10040, 0x20040, limits);
  }
  EXPECT_TRUE(differs) << "QP pairs spread over the range";
}

TEST(Names, AreThoseOfTheManual) {
  EXPECT_EQ(command_name(prm::Command::kCreateQp), "CREATE_QP");
  EXPECT_EQ(command_name(static_cast<prm::Command>(0x999)), "command 0x999");
  EXPECT_EQ(status_name(0x03), "bad parameter");
  EXPECT_EQ(status_name(0xee), "unknown status");
  EXPECT_STREQ(state_name(prm::QpState::kRts), "RTS");
  EXPECT_STREQ(state_name(static_cast<prm::QpState>(9)), "unknown");
}

TEST(Mtu, IsNumberedAsInTheQpContext) {
  EXPECT_EQ(mtu_bytes(Mtu::k256), 256u);
  EXPECT_EQ(mtu_bytes(Mtu::k4096), 4096u);
}

}  // namespace
}  // namespace marrow::verbs
