// SPDX-License-Identifier: Apache-2.0
// Address vectors of DC WQEs: bytes by hand, and rdma-core's struct and helper.
#include "marrow/wire/dc.h"

#include <gtest/gtest.h>
#include <infiniband/mlx5dv.h>

#include <cstring>

#include "wire/hex.h"

namespace marrow::wire {
namespace {

constexpr DcAddress kTarget{.key = 0x5623ceaf01020304, .dctn = 0xabcdef, .lid = 0x1234, .sl = 5};
constexpr DcRoute kRoute{
    .mac = {1, 2, 3, 4, 5, 6},
    .gid = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f},
    .sgid_index = 3,
    .traffic_class = 0x60,
    .hop_limit = 64,
    .flow_label = 0xfedcb};

mlx5_wqe_datagram_seg theirs(std::uint8_t extended, std::uint8_t rate_sl, std::uint16_t rlid, const DcRoute& route,
                             std::uint32_t grh) {
  mlx5_wqe_datagram_seg seg{};
  auto mac = route.mac;
  auto gid = route.gid;
  mlx5dv_set_dgram_seg(&seg, kTarget.key, kTarget.dctn, extended, rate_sl, 0, rlid, mac.data(), route.traffic_class,
                       route.hop_limit, grh, gid.data());
  return seg;
}

TEST(AddressVector, CompactHasKeyTargetAndLid) {
  EXPECT_EQ(hex(av_head(infiniband_av(kTarget), kCompactAvDs)), "5623ceaf 01020304 00abcdef 05001234");
}

TEST(AddressVector, CompactIsTheFirst16BytesOfRdmaCores) {
  const auto seg = theirs(0, 5, kTarget.lid, {.hop_limit = 0}, 0);
  EXPECT_EQ(hex(av_head(infiniband_av(kTarget), kCompactAvDs)), hex(&seg, 16));
}

TEST(AddressVector, FullSaysThatItsExtensionFollows) {
  const auto av = infiniband_av(kTarget);
  EXPECT_EQ(hex(av_head(av, kFullAvDs)), "5623ceaf 01020304 80abcdef 05001234");
  EXPECT_EQ(hex(av.extension),
            "00000000 00000000 00000000 00000000\n"
            "00000000 00000000 00000000 00000000");
}

TEST(AddressVector, RoutedBytesByHand) {
  EXPECT_EQ(hex(routed_av(kTarget, kRoute)),
            "5623ceaf 01020304 80abcdef 05001234\n"  // key | extended, DCT | service level, LID
            "00000000 00000000 00006040 403fedcb\n"  // no MAC, traffic class, hop limit | GRH, GID index, flow label
            "10111213 14151617 18191a1b 1c1d1e1f");
}

TEST(AddressVector, EthernetBytesByHand) {
  const auto av = ethernet_av(kTarget, kRoute, 0xc001);
  EXPECT_EQ(hex(av),
            "5623ceaf 01020304 80abcdef 0a00c001\n"  // key | extended, DCT | priority 5 << 1, UDP source port
            "00000000 01020304 05066040 003fedcb\n"  // reserved | MAC, traffic class, hop limit | GID index, flow label
            "10111213 14151617 18191a1b 1c1d1e1f");
}

TEST(AddressVector, EthernetAgreesWithRdmaCore) {
  EXPECT_EQ(hex(ethernet_av(kTarget, kRoute, 0xc001)), hex(theirs(1, 5 << 1, 0xc001, kRoute, 3u << 20 | 0xfedcb)));
}

TEST(AddressVector, ATargetNumberHas24Bits) {
  const auto av = infiniband_av({.dctn = 0xffabcdef});
  EXPECT_EQ(av.compact.extension_dctn.host(), 0xabcdefu);
  EXPECT_EQ(av_head(av, kFullAvDs).extension_dctn.host(), 0x80abcdefu);
  EXPECT_EQ(av_head(ethernet_av({.dctn = 7}, {}, 0), kCompactAvDs).extension_dctn.host(), 7u)
      << "the bit follows the form";
}

}  // namespace
}  // namespace marrow::wire
