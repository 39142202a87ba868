// SPDX-License-Identifier: Apache-2.0
// CREATE_RMP, QUERY_RMP and DESTROY_RMP: one row a wrong field, where the pool ends up, and who may name it.
#include <gtest/gtest.h>

#include "cx7/fw/command_table.h"
#include "cx7/fw/firmware.h"

namespace marrow::cx7::fw {
namespace {

class Rmp : public Firmware {
 protected:
  static std::byte* context_of(Mailbox& in) { return in.data() + create_rmp_at::kContext; }
  /// As UCX fills it: 16 slots of 64 bytes, a chain.
  static Mailbox good() {
    auto in = box(kCreateRmp, 0x110);
    std::byte* const c = context_of(in);
    prm::set(c, rmpc::state, 1);
    prm::set(c, rmpc::pd, kPdn);
    prm::set(c, rmpc::log_size, 4);
    prm::set(c, rmpc::log_stride, 6);
    prm::set(c, rmpc::wq_umem_valid, 1);
    prm::set(c, rmpc::dbr_umem_valid, 1);
    prm::set(c, rmpc::wq_umem_id, kUmem);
    prm::set(c, rmpc::wq_umem_offset, kQueueAt);
    prm::set(c, rmpc::dbr_umem_id, kUmem);
    prm::set(c, rmpc::dbr_addr, kDbrecAt + 128);
    return in;
  }
};

TEST_F(Rmp, Refusals) {
  using S = CommandStatus;
  struct Row {
    const char* what;
    void (*spoil)(std::byte* context);
    S expected;
  };
  const Row rows[] = {
      {"a foreign PD", [](auto* c) { prm::set(c, rmpc::pd, 0x12); }, S::kBadResource},
      {"not ready", [](auto* c) { prm::set(c, rmpc::state, 0); }, S::kBadParameter},
      {"striding", [](auto* c) { prm::set(c, rmpc::wq_type, 2); }, S::kBadParameter},
      {"a chain without its segments", [](auto* c) { prm::set(c, rmpc::basic_cyclic, 1); }, S::kBadParameter},
      {"too many slots", [](auto* c) { prm::set(c, rmpc::log_size, 16); }, S::kExceedLimit},
      {"slots of 16 bytes", [](auto* c) { prm::set(c, rmpc::log_stride, 4); }, S::kExceedLimit},
      {"slots of 1024 bytes", [](auto* c) { prm::set(c, rmpc::log_stride, 10); }, S::kExceedLimit},
      {"a foreign umem", [](auto* c) { prm::set(c, rmpc::wq_umem_id, 6); }, S::kBadResource},
      {"a page list", [](auto* c) { prm::set(c, rmpc::wq_umem_valid, 0); }, S::kBadParameter},
      {"past the umem's end", [](auto* c) { prm::set(c, rmpc::log_size, 10); }, S::kBadSize},
      {"dbrec past the end", [](auto* c) { prm::set(c, rmpc::dbr_addr, kUmemBytes); }, S::kBadSize},
      {"misaligned", [](auto* c) { prm::set(c, rmpc::wq_umem_offset, kQueueAt + 16); }, S::kBadParameter},
  };
  for (const auto& row : rows) {
    auto in = good();
    row.spoil(context_of(in));
    EXPECT_EQ(run(in), row.expected) << row.what;
  }
  EXPECT_EQ(client_.device.srqs.count(), 0u);
  EXPECT_EQ(client_.umems.at(kUmem).users, 0u);
}

TEST_F(Rmp, IsASharedReceiveQueue) {
  ASSERT_EQ(run(good()), CommandStatus::kOk);
  const auto rmpn = made();
  const Srq* const srq = client_.device.srqs.find(rmpn);
  ASSERT_NE(srq, nullptr);
  EXPECT_EQ(srq->base, memory_->data() + kQueueAt);
  EXPECT_EQ(srq->entries, 16u);
  EXPECT_EQ(srq->stride_bytes, 64u);
  EXPECT_EQ(reinterpret_cast<std::byte*>(srq->dbrec), memory_->data() + kDbrecAt + 128);
  EXPECT_FALSE(srq->cyclic);

  ASSERT_EQ(run(about(kQueryRmp, rmpn)), CommandStatus::kOk);
  const std::byte* const said = out_.data() + create_rmp_at::kContext;
  EXPECT_EQ(prm::get(said, rmpc::state), 1u);
  EXPECT_EQ(prm::get(said, rmpc::log_size), 4u);
  EXPECT_EQ(prm::get(said, rmpc::log_stride), 6u);
  EXPECT_EQ(prm::get(said, rmpc::pd), kPdn);
  EXPECT_EQ(run(about(kDestroyRmp, rmpn)), CommandStatus::kOk);
  EXPECT_EQ(run(about(kDestroyRmp, rmpn)), CommandStatus::kBadResource);
  EXPECT_EQ(run(about(kQueryRmp, rmpn)), CommandStatus::kBadResource);
  EXPECT_EQ(client_.umems.at(kUmem).users, 0u);
}

TEST_F(Rmp, StaysWhileAQpNamesIt) {
  ASSERT_EQ(run(good()), CommandStatus::kOk);
  const auto rmpn = made();
  auto in = good_qp();
  std::byte* const c = in.data() + prm::create_qp::kContext;
  prm::set(c, prm::qpc::rq_type, 1);
  prm::set(c, prm::qpc::srqn, rmpn);
  prm::set(c, prm::qpc::cqn_rcv, cqn_);
  prm::set(in.data(), prm::create_qp::wq_umem_offset, kQueueAt + 0x1000);
  ASSERT_EQ(run(in), CommandStatus::kOk);
  const auto qpn = made();
  EXPECT_EQ(run(about(kDestroyRmp, rmpn)), CommandStatus::kResourceBusy);
  EXPECT_EQ(run(about(Command::kDestroyQp, qpn)), CommandStatus::kOk);
  EXPECT_EQ(run(about(kDestroyRmp, rmpn)), CommandStatus::kOk);
}

TEST_F(Rmp, CyclicWithoutChainSegments) {
  auto in = good();
  prm::set(context_of(in), rmpc::wq_type, 1);
  prm::set(context_of(in), rmpc::basic_cyclic, 1);
  ASSERT_EQ(run(in), CommandStatus::kOk);
  const Srq* const srq = client_.device.srqs.find(made());
  EXPECT_TRUE(srq->cyclic);
  EXPECT_EQ(srq->header_bytes, 0u);
}

}  // namespace
}  // namespace marrow::cx7::fw
