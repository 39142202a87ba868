// SPDX-License-Identifier: Apache-2.0
// What firmware says of the port: on the link layer that has it, for the one port there is.
#include <gtest/gtest.h>

#include "cx7/fw/firmware.h"

namespace marrow::cx7::fw {
namespace {

using S = CommandStatus;
constexpr auto kVportContext = static_cast<Command>(0x762);
constexpr auto kVportGid = static_cast<Command>(0x764);
constexpr auto kRoceAddress = static_cast<Command>(0x760);
constexpr auto kVportState = static_cast<Command>(0x750);
constexpr auto kNicVport = static_cast<Command>(0x754);
constexpr auto kLag = static_cast<Command>(0x842);
constexpr prm::Field kPortNum{0x08, 19, 16};

class Vport : public Firmware {};

TEST_F(Vport, Refusals) {
  auto in = box(kVportContext, 0x10);
  prm::set(in.data(), kPortNum, 2);
  EXPECT_EQ(run(in, 0x210), S::kBadParameter) << "port 2";
  in = box(kVportContext, 0x10);
  prm::set(in.data(), prm::Field{0x08, 31, 31}, 1);
  EXPECT_EQ(run(in, 0x210), S::kBadParameter) << "another vport";
  in = box(kVportGid, 0x10);
  prm::set(in.data(), prm::Field{0x0c, 15, 0}, 1);
  EXPECT_EQ(run(in), S::kBadIndex);
  EXPECT_EQ(run(box(kRoceAddress, 0x10)), S::kBadParameter) << "an InfiniBand port";
  override_link_layer(LinkLayer::kEthernet);
  EXPECT_EQ(run(box(kVportContext, 0x10), 0x210), S::kBadParameter) << "an Ethernet port";
  EXPECT_EQ(run(box(kVportGid, 0x10)), S::kBadParameter);
  in = box(kRoceAddress, 0x10);
  prm::set(in.data(), prm::Field{0x08, 31, 16}, 4);
  EXPECT_EQ(run(in), S::kBadIndex);
}

TEST_F(Vport, SaysWhatTheVerbsSay) {
  auto in = box(kVportContext, 0x10);
  prm::set(in.data(), kPortNum, 1);
  ASSERT_EQ(run(in, 0x210), S::kOk);
  const std::byte* const context = out_.data() + 0x10;
  EXPECT_EQ(prm::get(context, prm::Field{0x60, 31, 16}), device_facts(0).lid);
  EXPECT_EQ(prm::get(context, prm::Field{0x20, 7, 4}), 4u) << "active";
  EXPECT_EQ(prm::get(context, prm::Field64{0x38}), device_facts(0).node_guid);
  ASSERT_EQ(run(box(kVportGid, 0x10)), S::kOk);
  EXPECT_EQ(std::memcmp(out_.data() + 0x10, gid_table(0)[0].gid.data(), 16), 0);
}

TEST_F(Vport, RoceAddresses) {
  override_link_layer(LinkLayer::kEthernet);
  auto in = box(kRoceAddress, 0x10);
  prm::set(in.data(), prm::Field{0x08, 31, 16}, 3);
  ASSERT_EQ(run(in), S::kOk);
  EXPECT_EQ(std::memcmp(out_.data() + 0x10, gid_table(0)[3].gid.data(), 16), 0);
  EXPECT_EQ(std::memcmp(out_.data() + 0x22, device_facts(0).mac.data(), 6), 0);
  EXPECT_EQ(prm::get(out_.data() + 0x10, prm::Field{0x18, 11, 0}), 2u) << "IPv4, RoCE v2";
}

TEST_F(Vport, NicVportIsForEthernetAlone) {
  EXPECT_EQ(run(box(kNicVport, 0x10)), S::kBadParameter) << "an InfiniBand port";
  override_link_layer(LinkLayer::kEthernet);
  auto in = box(kNicVport, 0x10);
  prm::set(in.data(), prm::Field{0x08, 31, 31}, 1);
  EXPECT_EQ(run(in), S::kBadParameter) << "another vport";
  ASSERT_EQ(run(box(kNicVport, 0x10)), S::kOk);
  const std::byte* const context = out_.data() + 0x10;
  EXPECT_EQ(prm::get(context, prm::Field{0x00, 0, 0}), 1u) << "RoCE is enabled";
  EXPECT_EQ(prm::get(context, prm::Field64{0x38}), device_facts(0).node_guid);
  EXPECT_EQ(std::memcmp(context + 0xf6, device_facts(0).mac.data(), 6), 0);
}

// The state stands in the last word: administrative, then operational.
TEST_F(Vport, IsUp) {
  auto in = box(kVportState, 0x10);
  prm::set(in.data(), prm::in::op_mod, 1);
  EXPECT_EQ(run(in, 0x10), S::kBadParameter) << "of the embedded switch";
  ASSERT_EQ(run(box(kVportState, 0x10), 0x10), S::kOk);
  EXPECT_EQ(prm::get(out_.data(), prm::Field{0x0c, 31, 0}), 0x11u);
}

TEST_F(Vport, NoLagBindsThePorts) {
  ASSERT_EQ(run(box(kLag, 0x10), 0x10), S::kOk);
  EXPECT_EQ(prm::get(out_.data(), prm::Field{0x08, 31, 0}), 0u) << "state of the LAG";
}

}  // namespace
}  // namespace marrow::cx7::fw
