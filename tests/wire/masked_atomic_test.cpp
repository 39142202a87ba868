// SPDX-License-Identifier: Apache-2.0
// Operands of the masked atomics by hand, and opcodes against rdma-core's. Its structs are not public.
#include "marrow/wire/masked_atomic.h"

#include <gtest/gtest.h>
#include <infiniband/mlx5dv.h>

#include "wire/hex.h"

namespace marrow::wire {
namespace {

TEST(MaskedAtomic, OpcodesAreRdmaCores) {
  EXPECT_EQ(static_cast<int>(Opcode::kMaskedCompareSwap), MLX5_OPCODE_ATOMIC_MASKED_CS);
  EXPECT_EQ(static_cast<int>(Opcode::kMaskedFetchAdd), MLX5_OPCODE_ATOMIC_MASKED_FA);
}

TEST(MaskedAtomic, TheModifierSaysHowManyBytes) {
  const Post post{.qpn = 0x1234, .index = 7, .completion = Completion::kAlways, .opmod = kMasked8};
  const auto ctrl = ctrl_segment(post, Opcode::kMaskedFetchAdd, 4);
  EXPECT_EQ(hex(ctrl), "09000715 00123404 00000008 00000000");
  EXPECT_EQ(ctrl.opmod(), kMasked8);
  mlx5_wqe_ctrl_seg theirs{};
  mlx5dv_set_ctrl_seg(&theirs, 7, MLX5_OPCODE_ATOMIC_MASKED_FA, 0x08 | (3 - 2), 0x1234, MLX5_WQE_CTRL_CQ_UPDATE, 4, 0,
                      0);
  EXPECT_EQ(hex(ctrl), hex(theirs));
}

TEST(MaskedAtomic, OperandsByHand) {
  EXPECT_EQ(hex(MaskedAdd4{be32(5), be32(~0u), be64(0)}), "00000005 ffffffff 00000000 00000000");
  EXPECT_EQ(hex(MaskedAdd8{be64(5), be64(1ull << 31)}), "00000000 00000005 00000000 80000000");
  EXPECT_EQ(hex(MaskedSwap4{be32(1), be32(2), be32(3), be32(4)}), "00000001 00000002 00000003 00000004");
  EXPECT_EQ(hex(MaskedSwap8{be64(1), be64(2), be64(3), be64(4)}),
            "00000000 00000001 00000000 00000002\n"
            "00000000 00000003 00000000 00000004");
}

}  // namespace
}  // namespace marrow::wire
