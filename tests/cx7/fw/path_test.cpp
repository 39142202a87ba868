// SPDX-License-Identifier: Apache-2.0
// Identity of the two devices, and where an address leads.
#include "cx7/fw/path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cx7/hca/engine.h"

namespace marrow::cx7 {
namespace {

class Paths : public testing::Test {
 protected:
  void TearDown() override { override_link_layer(LinkLayer::kInfiniBand); }
};

TEST_F(Paths, LidsLeadToTheirDevices) {
  EXPECT_EQ(destination_of({.lid = 0}), kNoDevice);
  EXPECT_EQ(destination_of({.lid = 1}), 0);
  EXPECT_EQ(destination_of({.lid = 2}), 1);
  EXPECT_EQ(destination_of({.lid = 3}), kNoDevice);
}

// With a GRH the GID must be the LID's own: half an address is no address.
TEST_F(Paths, LidAndGidMustAgree) {
  EXPECT_EQ(destination_of({.has_gid = true, .gid = gid_table(1)[0].gid, .lid = 2}), 1);
  EXPECT_EQ(destination_of({.has_gid = true, .gid = gid_table(0)[0].gid, .lid = 2}), kNoDevice);
}

TEST_F(Paths, GidsLeadOnRoce) {
  override_link_layer(LinkLayer::kEthernet);
  for (const std::uint8_t device : {std::uint8_t{0}, std::uint8_t{1}}) {
    for (const auto& entry : gid_table(device)) EXPECT_EQ(destination_of({.has_gid = true, .gid = entry.gid}), device);
  }
  EXPECT_EQ(destination_of({.has_gid = true, .gid = {}}), kNoDevice);
  EXPECT_EQ(destination_of({.lid = 1}), kNoDevice) << "a LID means nothing here";
}

TEST_F(Paths, NoTwoDevicesShareAnIdentity) {
  for (const auto link : {LinkLayer::kInfiniBand, LinkLayer::kEthernet}) {
    override_link_layer(link);
    for (const auto& a : gid_table(0)) {
      for (const auto& b : gid_table(1)) EXPECT_NE(a.gid, b.gid);
    }
  }
  EXPECT_NE(device_facts(0).node_guid, device_facts(1).node_guid);
  EXPECT_NE(device_facts(0).mac, device_facts(1).mac);
  EXPECT_NE(device_facts(0).lid, device_facts(1).lid);
  EXPECT_NE(device_facts(0).pci_address, device_facts(1).pci_address);
}

// Peers look for "mlx5" in the name.
TEST_F(Paths, NamesSayMlx5) {
  for (const std::uint8_t device : {std::uint8_t{0}, std::uint8_t{1}}) {
    EXPECT_THAT(std::string(device_facts(device).name), testing::StartsWith("mlx5"));
  }
}

}  // namespace
}  // namespace marrow::cx7
