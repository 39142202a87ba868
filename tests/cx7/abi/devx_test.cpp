// SPDX-License-Identifier: Apache-2.0
// DEVX through the ioctl: which call may carry which command, how a refusal comes back, and a whole message from a
// hand-built mailbox to a CQE, with nothing but this file's own ioctls and Engine::step().
#include <gtest/gtest.h>

#include <atomic>

#include "cx7/abi/nic.h"
#include "cx7/fw/mkc.h"
#include "marrow/wire/cqe.h"
#include "marrow/wire/prm.h"
#include "marrow/wire/wqe.h"

namespace marrow::cx7 {
namespace {

namespace prm = wire::prm;
using Mailbox = std::vector<std::byte>;

constexpr std::size_t kCqAt = 0x0000;
constexpr std::size_t kSqAt = 0x1000;
constexpr std::size_t kDbrecAt = 0x2000;  // CQ's, then QP's
constexpr std::size_t kQueueBytes = 0x3000;
constexpr std::size_t kDataAt = 0x8000;

Mailbox mailbox(prm::Command command, std::size_t bytes) {
  Mailbox box(bytes);
  prm::set(box.data(), prm::in::opcode, static_cast<std::uint32_t>(command));
  return box;
}

class Devx : public testing::Test {
 protected:
  Made umem_reg(std::uint64_t address, std::uint64_t bytes, std::uint32_t access = IB_UVERBS_ACCESS_LOCAL_WRITE) {
    std::uint32_t id = 0;
    Call call(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG);
    call.handle(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0)
        .in(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, address)
        .in(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, bytes)
        .in(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, access)
        .out(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, id);
    const int result = call(*nic_.file);
    return {result, call.handle_of(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE), id};
  }
  int umem_dereg(std::uint32_t handle) {
    return nic_.destroy(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE,
                        handle);
  }
  Made obj_create(const Mailbox& in) {
    out_.assign(0x10, std::byte{0xee});
    Call call(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE);
    call.handle(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 0)
        .in_bytes(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, in.data(), in.size())
        .out_bytes(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out_.data(), out_.size());
    const int result = call(*nic_.file);
    return {result, call.handle_of(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE), prm::get(out_.data(), prm::out::object)};
  }
  int obj_modify(std::uint32_t handle, const Mailbox& in) {
    out_.assign(0x10, std::byte{0xee});
    return Call(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY)
        .handle(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, handle)
        .in_bytes(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, in.data(), in.size())
        .out_bytes(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, out_.data(), out_.size())(*nic_.file);
  }
  int obj_query(std::uint32_t handle, const Mailbox& in) {
    out_.assign(0x110, std::byte{0xee});
    return Call(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY)
        .handle(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, handle)
        .in_bytes(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, in.data(), in.size())
        .out_bytes(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, out_.data(), out_.size())(*nic_.file);
  }
  int obj_destroy(std::uint32_t handle) {
    return nic_.destroy(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE,
                        handle);
  }
  int general(const Mailbox& in, std::size_t out_bytes = 0x1010) {
    out_.assign(out_bytes, std::byte{0xee});
    return Call(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER)
        .in_bytes(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in.data(), in.size())
        .out_bytes(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out_.data(), out_.size())(*nic_.file);
  }
  [[nodiscard]] unsigned status() const { return prm::get(out_.data(), prm::out::status); }

  std::uint32_t eqn() {
    const std::uint32_t vector = 0;
    std::uint32_t eqn = 0;
    EXPECT_EQ(Call(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN)
                  .in(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, vector)
                  .out(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, eqn)(*nic_.file),
              0);
    return eqn;
  }
  Mailbox cq_mailbox(std::uint32_t umem) {
    auto in = mailbox(prm::Command::kCreateCq, prm::create_cq::kInBytes);
    prm::set(in.data(), prm::create_cq::umem_id, umem);
    prm::set(in.data(), prm::create_cq::umem_offset, kCqAt);
    std::byte* const context = in.data() + prm::create_cq::kContext;
    prm::set(context, prm::cqc::log_size, 4);
    prm::set(context, prm::cqc::uar_page, nic_.uar_number);
    prm::set(context, prm::cqc::eqn, eqn());
    prm::set(context, prm::cqc::dbr_umem_id, umem);
    prm::set(context, prm::cqc::dbr_addr, kDbrecAt);
    return in;
  }
  Mailbox qp_mailbox(std::uint32_t umem, std::uint32_t cqn, std::uint32_t pdn) {
    auto in = mailbox(prm::Command::kCreateQp, prm::create_qp::kInBytes);
    prm::set(in.data(), prm::create_qp::wq_umem_id, umem);
    prm::set(in.data(), prm::create_qp::wq_umem_offset, kSqAt);
    std::byte* const context = in.data() + prm::create_qp::kContext;
    prm::set(context, prm::qpc::pm_state, 3);
    prm::set(context, prm::qpc::pd, pdn);
    prm::set(context, prm::qpc::log_sq_size, 4);
    prm::set(context, prm::qpc::rq_type, 3);
    prm::set(context, prm::qpc::uar_page, nic_.uar_number);
    prm::set(context, prm::qpc::user_index, 0x777);
    prm::set(context, prm::qpc::cqn_snd, cqn);
    prm::set(context, prm::qpc::dbr_umem_id, umem);
    prm::set(context, prm::qpc::dbr_addr, kDbrecAt + 8);
    return in;
  }

  Nic nic_;
  Mailbox out_;
};

TEST_F(Devx, NeedsAContextThatAskedForIt) {
  const auto nic = Nic::unopened();
  ASSERT_EQ(nic->get_context(/*flags=*/0), 0);
  const auto in = mailbox(prm::Command::kQueryHcaCap, 0x10);
  Mailbox out(0x1010);
  EXPECT_EQ(Call(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER)
                .in_bytes(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in.data(), in.size())
                .out_bytes(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out.data(), out.size())(*nic->file),
            -EINVAL);
}

// The kernel tells apart a call that does not fit (EINVAL) and firmware's own no (EREMOTEIO and the reply).
TEST_F(Devx, CallsCarryOnlyTheirOwnCommands) {
  EXPECT_EQ(general(mailbox(prm::Command::kCreateCq, 0x110)), -EINVAL);
  EXPECT_EQ(general(mailbox(prm::Command::kQp2Err, 0x10)), -EINVAL);
  EXPECT_EQ(obj_create(mailbox(prm::Command::kQueryHcaCap, 0x10)).result, -EINVAL);
  EXPECT_EQ(obj_create(mailbox(prm::Command::kDestroyQp, 0x10)).result, -EINVAL);
  EXPECT_EQ(obj_create(Mailbox(8)).result, -EINVAL) << "shorter than any mailbox";
  EXPECT_EQ(obj_modify(0x999, mailbox(prm::Command::kQp2Err, 0x10)), -ENOENT);
}

TEST_F(Devx, UnknownCommandsAreFirmwaresToRefuse) {
  EXPECT_EQ(general(mailbox(static_cast<prm::Command>(0x905), 0x20), 0x100), -EREMOTEIO);
  EXPECT_EQ(status(), static_cast<unsigned>(prm::CommandStatus::kBadOpcode));
  EXPECT_NE(prm::get(out_.data(), prm::out::syndrome), 0u);
  EXPECT_EQ(obj_create(mailbox(static_cast<prm::Command>(0x900), 0x110)).result, -EREMOTEIO);
  EXPECT_EQ(status(), static_cast<unsigned>(prm::CommandStatus::kBadOpcode));
}

TEST_F(Devx, UmemsAreCheckedLikeRegions) {
  EXPECT_EQ(umem_reg(kUnmapped, 4096).result, -EFAULT);
  EXPECT_EQ(umem_reg(nic_.memory.address(), 0).result, -EINVAL);
  EXPECT_EQ(umem_reg(nic_.memory.address(), 4096, 1u << 12).result, -EINVAL);
  EXPECT_EQ(umem_reg(nic_.memory.address(), 4096, IB_UVERBS_ACCESS_REMOTE_WRITE).result, -EINVAL);
  const auto umem = umem_reg(nic_.memory.address(), 4096);
  ASSERT_EQ(umem.result, 0);
  EXPECT_NE(umem.number, 0u);
  EXPECT_EQ(umem_dereg(umem.handle), 0);
}

TEST_F(Devx, AUmemInUseCannotGo) {
  const auto umem = umem_reg(nic_.memory.address(), kQueueBytes);
  const auto cq = obj_create(cq_mailbox(umem.number));
  ASSERT_EQ(cq.result, 0) << status();
  EXPECT_EQ(umem_dereg(umem.handle), -EBUSY);
  const auto pd = nic_.alloc_pd();
  const auto qp = obj_create(qp_mailbox(umem.number, cq.number, pd.number));
  ASSERT_EQ(qp.result, 0) << status();
  EXPECT_EQ(obj_destroy(cq.handle), -EBUSY);
  EXPECT_EQ(nic_.destroy_pd(pd.handle), -EBUSY);
  EXPECT_EQ(obj_destroy(qp.handle), 0);
  EXPECT_EQ(obj_destroy(cq.handle), 0);
  EXPECT_EQ(umem_dereg(umem.handle), 0);
}

// A mailbox about one QP cannot travel through another's handle.
TEST_F(Devx, HandlesSpeakForTheirOwnObject) {
  const auto umem = umem_reg(nic_.memory.address(), kQueueBytes);
  const auto cq = obj_create(cq_mailbox(umem.number));
  auto query = mailbox(prm::Command::kQueryCq, 0x10);
  prm::set(query.data(), prm::query_cq::cqn, cq.number + 1);
  EXPECT_EQ(obj_query(cq.handle, query), -EINVAL);
  prm::set(query.data(), prm::query_cq::cqn, cq.number);
  EXPECT_EQ(obj_query(cq.handle, query), 0);
  EXPECT_EQ(prm::get(out_.data() + prm::query_cq::kContext, prm::cqc::log_size), 4u);
  EXPECT_EQ(obj_query(nic_.uar_handle, query), -EINVAL) << "a doorbell page is no firmware object";
}

// The kernel leaves the umem bit alone where a key shows other keys.
TEST_F(Devx, AListKeyComesAndGoesThroughItsHandle) {
  const auto pd = nic_.alloc_pd();
  auto in = mailbox(prm::Command::kCreateMkey, fw::create_mkey_at::kInBytes);
  std::byte* const context = in.data() + fw::create_mkey_at::kContext;
  prm::set(context, fw::mkc::access_mode, 2);
  for (const auto field : {fw::mkc::free, fw::mkc::umr_en, fw::mkc::local_read}) prm::set(context, field, 1);
  prm::set(context, fw::mkc::qpn, 0xffffff);
  prm::set(context, fw::mkc::pd, pd.number);
  prm::set(context, fw::mkc::octowords, 4);
  const auto key = obj_create(in);
  ASSERT_EQ(key.result, 0) << status();
  EXPECT_EQ(nic_.destroy_pd(pd.handle), -EBUSY);
  auto query = mailbox(prm::Command::kQueryMkey, 0x10);
  prm::set(query.data(), prm::destroy::object, key.number);
  ASSERT_EQ(obj_query(key.handle, query), 0);
  EXPECT_EQ(prm::get(out_.data() + fw::create_mkey_at::kContext, fw::mkc::free), 1u);
  EXPECT_EQ(obj_query(nic_.create_qp(nic_.good_qp()).handle, query), -EINVAL) << "another kind of object";
  EXPECT_EQ(obj_destroy(key.handle), 0);
  EXPECT_EQ(nic_.destroy_pd(pd.handle), 0);
}

TEST_F(Devx, AKeyOnAUmemKeepsTheUmem) {
  const auto umem = umem_reg(nic_.memory.address(), kQueueBytes);
  const auto pd = nic_.alloc_pd();
  auto in = mailbox(prm::Command::kCreateMkey, fw::create_mkey_at::kInBytes);
  prm::set(in.data(), fw::create_mkey_at::umem_id, umem.number);
  std::byte* const context = in.data() + fw::create_mkey_at::kContext;
  prm::set(context, fw::mkc::access_mode, 1);
  prm::set(context, fw::mkc::local_read, 1);
  prm::set(context, fw::mkc::qpn, 0xffffff);
  prm::set(context, fw::mkc::pd, pd.number);
  prm::set(context, fw::mkc::start, nic_.memory.address());
  prm::set(context, fw::mkc::length, kQueueBytes);
  const auto key = obj_create(in);
  ASSERT_EQ(key.result, 0) << status();
  EXPECT_EQ(umem_dereg(umem.handle), -EBUSY);
  EXPECT_EQ(obj_destroy(key.handle), 0);
  EXPECT_EQ(umem_dereg(umem.handle), 0);
}

// QPs and CQs of the verbs can be asked about as well (mlx5dv_devx_qp_query).
TEST_F(Devx, VerbsObjectsCanBeQueried) {
  const auto qp = nic_.create_qp(nic_.good_qp());
  auto query = mailbox(prm::Command::kQueryQp, 0x10);
  prm::set(query.data(), prm::query_qp::qpn, qp.number);
  ASSERT_EQ(obj_query(qp.handle, query), 0);
  EXPECT_EQ(prm::get(out_.data() + prm::query_qp::kContext, prm::qpc::user_index), 0x1234u);
  EXPECT_EQ(prm::get(out_.data() + prm::query_qp::kContext, prm::qpc::log_rq_size), 4u);
}

Mailbox transition(prm::Command command, std::uint32_t qpn) {
  auto in = mailbox(command, prm::modify_qp::kInBytes);
  prm::set(in.data(), prm::modify_qp::qpn, qpn);
  return in;
}

// The nine stops of a message with no library and no thread: both ends on one QP of one device (loopback).
TEST_F(Devx, AWriteGoesFromMailboxToCqe) {
  const auto umem = umem_reg(nic_.memory.address(), kQueueBytes);
  const auto pd = nic_.alloc_pd();
  const auto cq = obj_create(cq_mailbox(umem.number));
  const auto qp = obj_create(qp_mailbox(umem.number, cq.number, pd.number));
  ASSERT_EQ(qp.result, 0) << status();
  const auto mr = nic_.reg_mr({.pd = pd.handle,
                               .start = nic_.memory.address(kDataAt),
                               .bytes = 4096,
                               .access = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE});
  ASSERT_EQ(mr.result, 0);
  std::memset(nic_.memory.at(kCqAt), 0xff, 16 * 64);

  auto in = transition(prm::Command::kRst2Init, qp.number);
  std::byte* context = in.data() + prm::modify_qp::kContext;
  prm::set(context, prm::qpc::pm_state, 3);
  prm::set(context, prm::qpc::rwe, 1);
  prm::set(context + prm::qpc::kPrimaryPath, prm::ads::port, 1);
  ASSERT_EQ(obj_modify(qp.handle, in), 0) << status();
  in = transition(prm::Command::kInit2Rtr, qp.number);
  context = in.data() + prm::modify_qp::kContext;
  prm::set(context, prm::qpc::mtu, 5);
  prm::set(context, prm::qpc::log_msg_max, 30);
  prm::set(context, prm::qpc::remote_qpn, qp.number);
  prm::set(context, prm::qpc::next_rcv_psn, 100);
  prm::set(context + prm::qpc::kPrimaryPath, prm::ads::rlid, 1);
  ASSERT_EQ(obj_modify(qp.handle, in), 0) << status();
  in = transition(prm::Command::kRtr2Rts, qp.number);
  context = in.data() + prm::modify_qp::kContext;
  prm::set(context, prm::qpc::next_send_psn, 100);
  prm::set(context, prm::qpc::retry_count, 7);
  prm::set(context, prm::qpc::rnr_retry, 7);
  prm::set(context + prm::qpc::kPrimaryPath, prm::ads::ack_timeout, 14);
  ASSERT_EQ(obj_modify(qp.handle, in), 0) << status();

  // Stop 3: the WQE's 48 bytes. Stop 4: record, then doorbell.
  std::memcpy(nic_.memory.at(kDataAt), "marrow!", 8);
  const wire::be32 wqe[12] = {wire::be32(0x00000008),
                              wire::be32(qp.number << 8 | 3),
                              wire::be32(0x00000008),
                              wire::be32(0),
                              wire::be32(static_cast<std::uint32_t>(nic_.memory.address(kDataAt + 2048) >> 32)),
                              wire::be32(static_cast<std::uint32_t>(nic_.memory.address(kDataAt + 2048))),
                              wire::be32(mr.number),
                              wire::be32(0),
                              wire::be32(8),
                              wire::be32(mr.number),
                              wire::be32(static_cast<std::uint32_t>(nic_.memory.address(kDataAt) >> 32)),
                              wire::be32(static_cast<std::uint32_t>(nic_.memory.address(kDataAt)))};
  std::memcpy(nic_.memory.at(kSqAt), wqe, sizeof wqe);
  const auto record = wire::dbrec_value(1);
  std::memcpy(nic_.memory.at(kDbrecAt + 8 + 4), &record, sizeof record);
  const auto word = wire::doorbell_word(qp.number, 1);
  std::memcpy(nic_.pages.registers_at(nic_.uar_offset) + wire::kUarBlueFlame, &word, sizeof word);

  for (int i = 0; i < 20; ++i) nic_.engine->step(Time{i});

  EXPECT_EQ(std::memcmp(nic_.memory.at(kDataAt + 2048), "marrow!", 8), 0);
  wire::Cqe cqe;
  std::memcpy(&cqe, nic_.memory.at(kCqAt), sizeof cqe);
  EXPECT_EQ(cqe.op_own, 0x00) << "requester's CQE, owner bit of the first pass";
  EXPECT_EQ(cqe.user_index.host(), 0x777u);
  EXPECT_EQ(cqe.wqe_counter.host(), 0);

  auto query = mailbox(prm::Command::kQueryQp, 0x10);
  prm::set(query.data(), prm::query_qp::qpn, qp.number);
  ASSERT_EQ(obj_query(qp.handle, query), 0);
  EXPECT_EQ(prm::get(out_.data() + prm::query_qp::kContext, prm::qpc::state), 3u);
  EXPECT_EQ(prm::get(out_.data() + prm::query_qp::kContext, prm::qpc::hw_sq_wqebb_counter), 1u);
}

}  // namespace
}  // namespace marrow::cx7
