// SPDX-License-Identifier: Apache-2.0
// Every WQE layout twice: bytes written by hand, and rdma-core's own helpers and structs.
#include "marrow/wire/wqe.h"

#include <gtest/gtest.h>
#include <infiniband/mlx5dv.h>

#include <cstring>
#include <vector>

#include "wire/hex.h"

namespace marrow::wire {
namespace {

constexpr Post kPost{.qpn = 0x1234, .index = 0x10007, .completion = Completion::kAlways};
constexpr RemoteRef kPeer{.addr = 0x1122334455667788, .rkey = 0xaabbccdd};
constexpr LocalRef kRow{.addr = 0x7f0000001000, .lkey = 0x1357};

mlx5_wqe_ctrl_seg their_ctrl(std::uint8_t opcode, std::uint8_t ds, std::uint8_t flags = MLX5_WQE_CTRL_CQ_UPDATE,
                             std::uint32_t imm = 0) {
  mlx5_wqe_ctrl_seg seg{};
  mlx5dv_set_ctrl_seg(&seg, static_cast<std::uint16_t>(kPost.index), opcode, 0, kPost.qpn, flags, ds, 0, htobe32(imm));
  return seg;
}

mlx5_wqe_raddr_seg their_remote() {
  return {.raddr = htobe64(kPeer.addr), .rkey = htobe32(kPeer.rkey), .reserved = 0};
}

mlx5_wqe_data_seg their_data(std::uint32_t bytes) {
  mlx5_wqe_data_seg seg{};
  mlx5dv_set_data_seg(&seg, bytes, kRow.lkey, kRow.addr);
  return seg;
}

template <class... Segments>
std::string in_sequence(const Segments&... segments) {
  std::vector<unsigned char> all;
  const auto append = [&](const auto& s) {
    const auto* at = reinterpret_cast<const unsigned char*>(&s);
    all.insert(all.end(), at, at + sizeof s);
  };
  (append(segments), ...);
  return hex(all.data(), all.size());
}

TEST(WriteWqe, IsThreeSegmentsInNetworkOrder) {
  EXPECT_EQ(hex(write_wqe(kPost, kPeer, kRow, 4096)),
            "00000708 00123403 00000008 00000000\n"  // ctrl: index 7 (of 0x10007) | op 8, QPN | 3 DS, CQE always
            "11223344 55667788 aabbccdd 00000000\n"  // remote: address, rkey
            "00001000 00001357 00007f00 00001000");  // data: byte count, lkey, address
}

TEST(WriteWqe, AgreesWithRdmaCore) {
  EXPECT_EQ(hex(write_wqe(kPost, kPeer, kRow, 4096)),
            in_sequence(their_ctrl(MLX5_OPCODE_RDMA_WRITE, 3), their_remote(), their_data(4096)));
}

TEST(WriteWqe, CarriesTheImmediateInTheControlSegment) {
  auto post = kPost;
  post.imm = 0xcafef00d;
  post.solicited = Solicited::kYes;
  const auto ours = write_wqe(post, kPeer, kRow, 1, Opcode::kWriteImm);
  EXPECT_EQ(hex(ours.ctrl), "00000709 00123403 0000000a cafef00d");
  EXPECT_EQ(hex(ours), in_sequence(their_ctrl(MLX5_OPCODE_RDMA_WRITE_IMM, 3,
                                              MLX5_WQE_CTRL_CQ_UPDATE | MLX5_WQE_CTRL_SOLICITED, 0xcafef00d),
                                   their_remote(), their_data(1)));
}

TEST(ReadWqe, IsAWriteWithAnotherOpcode) {
  const auto ours = write_wqe(kPost, kPeer, kRow, 64, Opcode::kRead);
  EXPECT_EQ(hex(ours.ctrl), "00000710 00123403 00000008 00000000");
  EXPECT_EQ(hex(ours), in_sequence(their_ctrl(MLX5_OPCODE_RDMA_READ, 3), their_remote(), their_data(64)));
}

TEST(AtomicWqe, FetchAddHasOperandThenResult) {
  const auto ours = atomic_wqe(kPost, kPeer, kRow, {.opcode = Opcode::kFetchAdd, .swap_add = 5});
  EXPECT_EQ(hex(ours),
            "00000712 00123404 00000008 00000000\n"
            "11223344 55667788 aabbccdd 00000000\n"
            "00000000 00000005 00000000 00000000\n"
            "00000008 00001357 00007f00 00001000");
  const mlx5_wqe_atomic_seg operand{.swap_add = htobe64(5), .compare = 0};
  EXPECT_EQ(hex(ours), in_sequence(their_ctrl(MLX5_OPCODE_ATOMIC_FA, 4), their_remote(), operand, their_data(8)));
}

TEST(AtomicWqe, CompareSwapHasSwapBeforeCompare) {
  const auto ours = atomic_wqe(kPost, kPeer, kRow, {.opcode = Opcode::kCompareSwap, .swap_add = 0x51, .compare = 0xc0});
  EXPECT_EQ(hex(ours.operand), "00000000 00000051 00000000 000000c0");
  const mlx5_wqe_atomic_seg operand{.swap_add = htobe64(0x51), .compare = htobe64(0xc0)};
  EXPECT_EQ(hex(ours), in_sequence(their_ctrl(MLX5_OPCODE_ATOMIC_CS, 4), their_remote(), operand, their_data(8)));
}

TEST(SendWqe, IsControlAndData) {
  const auto ours = send_wqe(kPost, kRow, 256);
  EXPECT_EQ(hex(ours),
            "0000070a 00123402 00000008 00000000\n"
            "00000100 00001357 00007f00 00001000");
  EXPECT_EQ(hex(ours), in_sequence(their_ctrl(MLX5_OPCODE_SEND, 2), their_data(256)));
}

TEST(NopWqe, IsOneSegment) {
  EXPECT_EQ(hex(nop_wqe(kPost)), "00000700 00123401 00000008 00000000");
  EXPECT_EQ(hex(nop_wqe(kPost)), in_sequence(their_ctrl(MLX5_OPCODE_NOP, 1)));
}

TEST(InlineData, StartsWithAFlaggedLength) {
  EXPECT_EQ(hex(inline_header(8)), "80000008");
  const mlx5_wqe_inl_data_seg theirs{.byte_count = htobe32(8 | static_cast<std::uint32_t>(MLX5_INLINE_SEG))};
  EXPECT_EQ(hex(inline_header(8)), hex(theirs));
}

TEST(ControlSegment, FlagsStandInTheirBits) {
  auto post = kPost;
  post.completion = Completion::kOnError;
  post.fence = Fence::kFenceAndSmall;
  EXPECT_EQ(hex(ctrl_segment(post, Opcode::kWrite, 3)),
            hex(their_ctrl(MLX5_OPCODE_RDMA_WRITE, 3, MLX5_WQE_CTRL_FENCE)));
  post.fence = Fence::kSmall;
  EXPECT_EQ(hex(ctrl_segment(post, Opcode::kWrite, 3)),
            hex(their_ctrl(MLX5_OPCODE_RDMA_WRITE, 3, MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE)));
}

// The readers (what the software NIC uses) see what was written, each field alone.
TEST(ControlSegment, ReadsBackEveryField) {
  const Post post{.qpn = 0xabcdef,
                  .index = 0x2fffe,
                  .completion = Completion::kAlwaysWithEvent,
                  .fence = Fence::kStrong,
                  .solicited = Solicited::kYes,
                  .imm = 7};
  const auto seg = ctrl_segment(post, Opcode::kSendImm, 63);
  EXPECT_EQ(seg.opmod(), 0);
  EXPECT_EQ(seg.index(), 0xfffe);
  EXPECT_EQ(seg.opcode(), Opcode::kSendImm);
  EXPECT_EQ(seg.qpn(), 0xabcdefu);
  EXPECT_EQ(seg.ds(), 63u);
  EXPECT_EQ(seg.completion(), Completion::kAlwaysWithEvent);
  EXPECT_EQ(seg.fence(), Fence::kStrong);
  EXPECT_EQ(seg.solicited(), Solicited::kYes);
  EXPECT_EQ(seg.imm.host(), 7u);
}

TEST(Shapes, InlineRoomIs28To220Bytes) {
  EXPECT_EQ(max_inline_write(1), 28u);
  EXPECT_EQ(max_inline_write(2), 92u);
  EXPECT_EQ(max_inline_write(3), 156u);
  EXPECT_EQ(max_inline_write(4), 220u);
  for (std::uint32_t k = 1; k <= 4; ++k) {
    EXPECT_EQ(wqebbs_of(2 + inline_ds(max_inline_write(k))), k);
    EXPECT_EQ(wqebbs_of(2 + inline_ds(max_inline_write(k) + 1)), k + 1);
  }
}

TEST(Shapes, NothingInlineTakesNoSegment) {
  EXPECT_EQ(inline_ds(0), 0u);
  EXPECT_EQ(inline_ds(1), 1u);
  EXPECT_EQ(inline_ds(12), 1u);
  EXPECT_EQ(inline_ds(13), 2u);
}

static_assert(sizeof(CtrlSegment) == sizeof(mlx5_wqe_ctrl_seg));
static_assert(offsetof(CtrlSegment, qpn_ds) == offsetof(mlx5_wqe_ctrl_seg, qpn_ds));
static_assert(offsetof(CtrlSegment, signature_flags) == offsetof(mlx5_wqe_ctrl_seg, signature));
static_assert(offsetof(CtrlSegment, imm) == offsetof(mlx5_wqe_ctrl_seg, imm));
static_assert(offsetof(RemoteSegment, rkey) == offsetof(mlx5_wqe_raddr_seg, rkey));
static_assert(offsetof(DataSegment, lkey) == offsetof(mlx5_wqe_data_seg, lkey));
static_assert(offsetof(DataSegment, addr) == offsetof(mlx5_wqe_data_seg, addr));
static_assert(offsetof(AtomicSegment, compare) == offsetof(mlx5_wqe_atomic_seg, compare));
static_assert(kInvalidLkey == MLX5_INVALID_LKEY);
static_assert(kWqebbBytes == MLX5_SEND_WQE_BB);
static_assert(static_cast<int>(Opcode::kSend) == MLX5_OPCODE_SEND);

}  // namespace
}  // namespace marrow::wire
