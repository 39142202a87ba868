// SPDX-License-Identifier: Apache-2.0
// CQEs twice: bytes written by hand, and rdma-core's structs and accessors; then the ownership rule.
#include "marrow/wire/cqe.h"

#include <gtest/gtest.h>
#include <infiniband/mlx5dv.h>

#include <cstring>

#include "wire/hex.h"

namespace marrow::wire {
namespace {

static_assert(sizeof(Cqe) == sizeof(mlx5_cqe64) && sizeof(Cqe) == sizeof(mlx5_err_cqe));
static_assert(offsetof(Cqe, user_index) == offsetof(mlx5_cqe64, srqn_uidx));
static_assert(offsetof(Cqe, imm) == offsetof(mlx5_cqe64, imm_inval_pkey));
static_assert(offsetof(Cqe, app) == offsetof(mlx5_cqe64, app));
static_assert(offsetof(Cqe, byte_count) == offsetof(mlx5_cqe64, byte_cnt));
static_assert(offsetof(Cqe, reserved48) == offsetof(mlx5_cqe64, timestamp));
static_assert(offsetof(Cqe, opcode_qpn) == offsetof(mlx5_cqe64, sop_drop_qpn));
static_assert(offsetof(Cqe, wqe_counter) == offsetof(mlx5_cqe64, wqe_counter));
static_assert(offsetof(Cqe, signature) == offsetof(mlx5_cqe64, signature));
static_assert(offsetof(Cqe, op_own) == offsetof(mlx5_cqe64, op_own));
static_assert(offsetof(Cqe, user_index) == offsetof(mlx5_err_cqe, srqn));
static_assert(offsetof(Cqe, vendor_syndrome) == offsetof(mlx5_err_cqe, vendor_err_synd));
static_assert(offsetof(Cqe, syndrome) == offsetof(mlx5_err_cqe, syndrome));
static_assert(offsetof(Cqe, opcode_qpn) == offsetof(mlx5_err_cqe, s_wqe_opcode_qpn));
static_assert(offsetof(Cqe, wqe_counter) == offsetof(mlx5_err_cqe, wqe_counter));
static_assert(offsetof(Cqe, op_own) == offsetof(mlx5_err_cqe, op_own));

constexpr auto kError = static_cast<std::uint8_t>(0xd1);  // requester error, owner 1

/// "Access refused by the peer", as a NIC writes it.
Cqe error_cqe() {
  Cqe cqe{};
  cqe.user_index = be32(0x42);
  cqe.vendor_syndrome = 0x88;
  cqe.syndrome = Syndrome::kRemoteAccess;
  cqe.opcode_qpn = be32(0x08001234);
  cqe.wqe_counter = be16(0xfffe);
  cqe.op_own = kError;
  return cqe;
}

TEST(ErrorCqe, HasItsBytesWhereTheManualSays) {
  EXPECT_EQ(hex(error_cqe()),
            "00000000 00000000 00000000 00000000\n"
            "00000000 00000000 00000000 00000000\n"
            "00000042 00000000 00000000 00000000\n"
            "00000000 00008813 08001234 fffe00d1");
}

TEST(ErrorCqe, RdmaCoreReadsTheSame) {
  const auto ours = error_cqe();
  mlx5_err_cqe theirs;
  std::memcpy(&theirs, &ours, sizeof theirs);
  EXPECT_EQ(theirs.vendor_err_synd, 0x88);
  EXPECT_EQ(theirs.syndrome, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
  EXPECT_EQ(be32toh(theirs.s_wqe_opcode_qpn), 0x08001234u);
  EXPECT_EQ(be16toh(theirs.wqe_counter), 0xfffe);
  mlx5_cqe64 as64;
  std::memcpy(&as64, &ours, sizeof as64);
  EXPECT_EQ(mlx5dv_get_cqe_opcode(&as64), MLX5_CQE_REQ_ERR);
  EXPECT_EQ(mlx5dv_get_cqe_owner(&as64), 1);
}

TEST(ErrorCqe, ReadersAgreeWithTheBytes) {
  const auto cqe = error_cqe();
  EXPECT_TRUE(cqe.is_error());
  EXPECT_EQ(cqe.opcode(), CqeOpcode::kRequesterError);
  EXPECT_EQ(cqe.owner(), 1);
  EXPECT_EQ(cqe.qpn(), 0x1234u);
  EXPECT_EQ(cqe.wqe_opcode(), Opcode::kWrite);
}

TEST(CqeTail, IsOneWordOfCounterAndOwner) {
  const auto cqe = error_cqe();
  std::uint32_t word;
  std::memcpy(&word, reinterpret_cast<const char*>(&cqe) + 60, 4);
  EXPECT_EQ(CqeTail::from_word(word).wqe_counter, 0xfffe);
  EXPECT_EQ(CqeTail::from_word(word).op_own, kError);
  EXPECT_EQ(CqeTail::from_word(word).opcode(), CqeOpcode::kRequesterError);
}

// A fresh entry must not look complete, neither by opcode nor by owner.
TEST(Ownership, AFreshEntryIsNotValidInTheFirstLap) {
  for (const std::uint8_t fresh : {kFreshCqeByte, std::uint8_t{0xf0}, std::uint8_t{0xf1}}) {
    EXPECT_FALSE(cqe_is_valid(fresh, 0, 3)) << unsigned{fresh};
  }
}

TEST(Ownership, TheOwnerBitTurnsWithEachLap) {
  constexpr std::uint32_t kLog = 3;
  for (std::uint64_t ci = 0; ci < 40; ++ci) {
    const auto now = op_own_byte(CqeOpcode::kRequester, ci >> kLog);
    const auto a_lap_ago = op_own_byte(CqeOpcode::kRequester, (ci >> kLog) + 1);
    EXPECT_TRUE(cqe_is_valid(now, ci, kLog));
    EXPECT_FALSE(cqe_is_valid(a_lap_ago, ci, kLog));
  }
}

TEST(Syndromes, AreThoseOfRdmaCore) {
  const struct {
    Syndrome ours;
    int theirs;
  } pairs[] = {
      {Syndrome::kLocalLength, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR},
      {Syndrome::kLocalQpOperation, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR},
      {Syndrome::kLocalProtection, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR},
      {Syndrome::kFlushed, MLX5_CQE_SYNDROME_WR_FLUSH_ERR},
      {Syndrome::kMwBind, MLX5_CQE_SYNDROME_MW_BIND_ERR},
      {Syndrome::kBadResponse, MLX5_CQE_SYNDROME_BAD_RESP_ERR},
      {Syndrome::kLocalAccess, MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR},
      {Syndrome::kRemoteInvalidRequest, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR},
      {Syndrome::kRemoteAccess, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR},
      {Syndrome::kRemoteOperation, MLX5_CQE_SYNDROME_REMOTE_OP_ERR},
      {Syndrome::kRetryExceeded, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR},
      {Syndrome::kRnrRetryExceeded, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR},
      {Syndrome::kRemoteAborted, MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR},
  };
  for (const auto& [ours, theirs] : pairs) {
    EXPECT_EQ(static_cast<int>(ours), theirs);
    EXPECT_STRNE(syndrome_name(ours), "unknown");
  }
  EXPECT_STREQ(syndrome_name(static_cast<Syndrome>(0x77)), "unknown");
}

TEST(CqeOpcodes, AreThoseOfRdmaCore) {
  EXPECT_EQ(static_cast<int>(CqeOpcode::kRequester), MLX5_CQE_REQ);
  EXPECT_EQ(static_cast<int>(CqeOpcode::kRecvWriteImm), MLX5_CQE_RESP_WR_IMM);
  EXPECT_EQ(static_cast<int>(CqeOpcode::kRecvSend), MLX5_CQE_RESP_SEND);
  EXPECT_EQ(static_cast<int>(CqeOpcode::kRecvSendImm), MLX5_CQE_RESP_SEND_IMM);
  EXPECT_EQ(static_cast<int>(CqeOpcode::kRequesterError), MLX5_CQE_REQ_ERR);
  EXPECT_EQ(static_cast<int>(CqeOpcode::kResponderError), MLX5_CQE_RESP_ERR);
  EXPECT_EQ(static_cast<int>(CqeOpcode::kInvalid), MLX5_CQE_INVALID);
}

}  // namespace
}  // namespace marrow::wire
