// SPDX-License-Identifier: Apache-2.0
// Dbrec and doorbell twice: bytes by hand, and rdma-core's word indices and control segment helper.
#include "marrow/wire/doorbell.h"

#include <gtest/gtest.h>
#include <infiniband/mlx5dv.h>

#include <cstring>

#include "wire/hex.h"

namespace marrow::wire {
namespace {

static_assert(offsetof(QpDbrec, receive) == 4 * MLX5_RCV_DBR && offsetof(QpDbrec, send) == 4 * MLX5_SND_DBR);

TEST(Dbrec, HoldsTheLow16BitsBigEndian) {
  EXPECT_EQ(hex(dbrec_value(0x123456)), "00003456");
  EXPECT_EQ(hex(dbrec_value(0x10000)), "00000000");
}

TEST(Doorbell, BytesAreIndexThenQpn) {
  const auto word = doorbell_word(0x00abcdef, 0x54321);
  EXPECT_EQ(hex(word), "00432100 abcdef00");
}

// libmlx5 stores the first eight bytes of the last control segment instead: our reader must see the same end.
TEST(Doorbell, ReadsTheFormOfRdmaCore) {
  mlx5_wqe_ctrl_seg ctrl{};
  mlx5dv_set_ctrl_seg(&ctrl, 0x4321, MLX5_OPCODE_RDMA_WRITE, 0, 0xabcdef, MLX5_WQE_CTRL_CQ_UPDATE, 7, 0, 0);
  std::uint64_t word;
  std::memcpy(&word, &ctrl, sizeof word);
  const auto doorbell = Doorbell::from_word(word);
  EXPECT_EQ(doorbell.qpn, 0xabcdefu);
  EXPECT_EQ(doorbell.index, 0x4321);
  EXPECT_EQ(doorbell.ds, 7);
  EXPECT_EQ(doorbell.end(), 0x4323);  // 7 DS are two WQEBBs
}

TEST(Doorbell, EndWrapsAt16Bits) {
  EXPECT_EQ((Doorbell{.qpn = 1, .index = 0xffff, .ds = 4}.end()), 0);
  EXPECT_EQ(Doorbell::from_word(doorbell_word(1, 0x10000)).end(), 0);
}

TEST(Doorbell, LeakedIndexBitsDoNotMatter) {
  const auto clean = doorbell_word(0x12, 0x34);
  const auto leaked = clean | 0x99;  // byte 0: where an unmasked counter puts bits 23:16
  EXPECT_EQ(Doorbell::from_word(leaked).end(), Doorbell::from_word(clean).end());
}

TEST(Doorbell, ComesBackUnchanged) {
  const Doorbell doorbell{.qpn = 0x123456, .index = 0xfedc, .ds = 0};
  const auto back = Doorbell::from_word(doorbell.to_word());
  EXPECT_EQ(back.qpn, doorbell.qpn);
  EXPECT_EQ(back.index, doorbell.index);
}

TEST(Uar, RegistersAreWhereTheUarHasThem) {
  EXPECT_EQ(kUarBlueFlame, 0x800u);
  EXPECT_EQ(kUarCqArm, 0x20u);
  EXPECT_EQ(kUarBlueFlame + 3 * kUarDoorbellStride, 0xb00u);
}

}  // namespace
}  // namespace marrow::wire
