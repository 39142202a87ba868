// SPDX-License-Identifier: Apache-2.0
// QUERY_HCA_CAP: golden replies. A bit that is set here is a promise that some other test keeps.
#include <gtest/gtest.h>

#include "cx7/fw/firmware.h"

namespace marrow::cx7::fw {
namespace {

class Capabilities : public Firmware {
 protected:
  CommandStatus ask(std::uint32_t type, std::uint32_t current = 1) {
    auto in = box(Command::kQueryHcaCap, 0x10);
    prm::set(in.data(), prm::in::op_mod, type << 1 | current);
    return run(in, 0x1010);
  }
  /// Every word of the capability that is not zero, as offset and value.
  [[nodiscard]] std::vector<std::pair<std::size_t, std::uint32_t>> words() const {
    std::vector<std::pair<std::size_t, std::uint32_t>> found;
    for (std::uint16_t at = 0; at < 0x1000; at = static_cast<std::uint16_t>(at + 4)) {
      const auto value = prm::get(out_.data() + 0x10, prm::Field{at, 31, 0});
      if (value != 0) found.emplace_back(at, value);
    }
    return found;
  }
};

using testing::ElementsAre;
using testing::Pair;

TEST_F(Capabilities, UnmodelledTypesAreRefused) {
  for (const std::uint32_t type : {1u, 5u, 0x10u, 0x7fu}) {
    EXPECT_EQ(ask(type), CommandStatus::kBadParameter) << type;
  }
  EXPECT_EQ(ask(4), CommandStatus::kBadParameter) << "RoCE capabilities of an InfiniBand port";
}

// Flow steering, device memory and others: a ConnectX-7 has them, this one says that it has none.
TEST_F(Capabilities, WhatIsNotModelledHasEveryBitClear) {
  for (const std::uint32_t type : {0x7u, 0x8u, 0x9u, 0xcu, 0xfu, 0x1au, 0x20u}) {
    EXPECT_EQ(ask(type), CommandStatus::kOk) << type;
    EXPECT_THAT(words(), testing::IsEmpty()) << type;
  }
}

TEST_F(Capabilities, GeneralOnInfiniBand) {
  const auto golden = ElementsAre(Pair(0x10, 0x000f000f),   // log_max_qp_sz 15, log_max_qp 15
                                  Pair(0x18, 0x0016000f),   // log_max_cq_sz 22, log_max_cq 15
                                  Pair(0x1c, 0x000f0100),   // log_max_mkey 15, interleaved keys
                                  Pair(0x20, 0x01bf0010),   // one indirection, equal pieces, 2^63 bytes, 2^16 entries
                                  Pair(0x24, 0x00040004),   // 16 reads each way over DC
                                  Pair(0x28, 0x00040004),   // 16 reads each way
                                  Pair(0x34, 0x00000001),   // InfiniBand, one port
                                  Pair(0x38, 0x1e000000),   // messages up to 2^30
                                  Pair(0x3c, 0x00000001),   // CQE version 1
                                  Pair(0x40, 0x81000022),   // compact address vectors, entity size fixed, DCT, atomic
                                  Pair(0x44, 0x81000001),   // overrun ignore, on-demand paging, RC
                                  Pair(0x48, 0x80000000),   // 4 KiB doorbell pages
                                  Pair(0x4c, 0x80090000),   // BlueFlame, 512 bytes
                                  Pair(0x50, 0x00000400),   // send WQE
                                  Pair(0x54, 0x00000200),   // receive WQE
                                  Pair(0x58, 0x00000400),   // send WQE of a DCI
                                  Pair(0x70, 0x8f000000),   // cyclic pools without chain segments, log_max_rmp 15
                                  Pair(0xa4, 0x00000001));  // one doorbell page a page
  ASSERT_EQ(ask(0), CommandStatus::kOk);
  EXPECT_THAT(words(), golden);
  ASSERT_EQ(ask(0, /*current=*/0), CommandStatus::kOk);
  EXPECT_THAT(words(), golden) << "maximum and current agree";
}

// A caller with little room gets the front of the reply.
TEST_F(Capabilities, AShortReplyIsTheFrontOfTheLongOne) {
  auto in = box(Command::kQueryHcaCap, 0x10);
  prm::set(in.data(), prm::in::op_mod, 1);
  ASSERT_EQ(run(in, 0x1010), CommandStatus::kOk);
  const Mailbox whole(out_.begin(), out_.begin() + 0x44);
  ASSERT_EQ(run(in, 0x44), CommandStatus::kOk);
  EXPECT_EQ(out_, whole);
}

TEST_F(Capabilities, GeneralOnRoce) {
  override_link_layer(LinkLayer::kEthernet);
  ASSERT_EQ(ask(0), CommandStatus::kOk);
  EXPECT_EQ(prm::get(out_.data() + 0x10, prm::general_cap::port_type), 1u);
  EXPECT_EQ(prm::get(out_.data() + 0x10, prm::general_cap::roce), 1u);
  EXPECT_EQ(prm::get(out_.data() + 0x10, prm::general_cap::compact_address_vector), 0u) << "no room for a GID";
}

// From the top bit on: sends, receives, writes, reads, atomics, receives of an SRQ.
TEST_F(Capabilities, OnDemandPaging) {
  ASSERT_EQ(ask(2), CommandStatus::kOk);
  EXPECT_THAT(words(), ElementsAre(Pair(0x10, 0xfc000000),    // RC
                                   Pair(0x18, 0x80000000),    // UD
                                   Pair(0x1c, 0xfc000000),    // XRC
                                   Pair(0x20, 0xfc000000)));  // DC
}

TEST_F(Capabilities, Atomic) {
  ASSERT_EQ(ask(3), CommandStatus::kOk);
  EXPECT_THAT(words(), ElementsAre(Pair(0x08, 0x42000000),    // results in host order, and that can be had
                                   Pair(0x10, 0x0000000f),    // compare-swap, fetch-add, and both masked
                                   Pair(0x14, 0x0000000c),    // operands of 8 and 4 bytes
                                   Pair(0x18, 0x0000000c)));  // the same over DC
}

TEST_F(Capabilities, Roce) {
  override_link_layer(LinkLayer::kEthernet);
  ASSERT_EQ(ask(4), CommandStatus::kOk);
  EXPECT_THAT(words(), ElementsAre(Pair(0x10, 0x00000005),    // versions 1 and 2
                                   Pair(0x14, 0x000012b7),    // UDP port 4791
                                   Pair(0x18, 0xffffc000),    // source ports
                                   Pair(0x1c, 0x00000010)));  // 16 GIDs
}

}  // namespace
}  // namespace marrow::cx7::fw
