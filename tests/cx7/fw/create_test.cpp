// SPDX-License-Identifier: Apache-2.0
// CREATE, QUERY and DESTROY of CQs and QPs: one row a wrong field, and where the queues end up.
#include <gtest/gtest.h>

#include "cx7/fw/firmware.h"

namespace marrow::cx7::fw {
namespace {

class Create : public Firmware {};

struct Row {
  const char* what;
  void (*spoil)(std::byte* box, std::byte* context);
  CommandStatus expected;
};

TEST_F(Create, CqRefusals) {
  using S = CommandStatus;
  const Row rows[] = {
      {"too large", [](auto*, auto* c) { prm::set(c, prm::cqc::log_size, 23); }, S::kExceedLimit},
      {"CQE size 2", [](auto*, auto* c) { prm::set(c, prm::cqc::cqe_size, 2); }, S::kBadParameter},
      {"no such EQ", [](auto*, auto* c) { prm::set(c, prm::cqc::eqn, 99); }, S::kBadResource},
      {"a foreign UAR page", [](auto*, auto* c) { prm::set(c, prm::cqc::uar_page, 8); }, S::kBadResource},
      {"a foreign umem", [](auto* b, auto*) { prm::set(b, prm::create_cq::umem_id, 6); }, S::kBadResource},
      {"umem not valid", [](auto* b, auto*) { prm::set(b, prm::create_cq::umem_valid, 0); }, S::kBadParameter},
      {"dbrec's umem not valid", [](auto*, auto* c) { prm::set(c, prm::cqc::dbr_umem_valid, 0); }, S::kBadParameter},
      {"a foreign dbrec umem", [](auto*, auto* c) { prm::set(c, prm::cqc::dbr_umem_id, 6); }, S::kBadResource},
      {"ring past the umem's end", [](auto*, auto* c) { prm::set(c, prm::cqc::log_size, 10); }, S::kBadSize},
      {"offset past the umem's end", [](auto* b, auto*) { prm::set(b, prm::create_cq::umem_offset, kUmemBytes + 64); },
       S::kBadSize},
      {"offset that overflows", [](auto* b, auto*) { prm::set(b, prm::create_cq::umem_offset, ~0ull - 63); },
       S::kBadSize},
      {"ring misaligned", [](auto* b, auto*) { prm::set(b, prm::create_cq::umem_offset, 8); }, S::kBadParameter},
      {"dbrec misaligned", [](auto*, auto* c) { prm::set(c, prm::cqc::dbr_addr, kDbrecAt + 4); }, S::kBadParameter},
      {"dbrec past the end", [](auto*, auto* c) { prm::set(c, prm::cqc::dbr_addr, kUmemBytes); }, S::kBadSize},
  };
  for (const auto& row : rows) {
    auto in = good_cq();
    row.spoil(in.data(), in.data() + prm::create_cq::kContext);
    EXPECT_EQ(run(in), row.expected) << row.what;
  }
  EXPECT_EQ(client_.device.cqs.count(), 0u);
  EXPECT_EQ(client_.umems.at(kUmem).users, 0u);
}

TEST_F(Create, CollapsedCqThatIgnoresOverrun) {
  auto in = good_cq();
  std::byte* const c = in.data() + prm::create_cq::kContext;
  prm::set(c, prm::cqc::collapsed, 1);
  prm::set(c, prm::cqc::overrun_ignore, 1);
  ASSERT_EQ(run(in), CommandStatus::kOk);
  const auto cqn = made();
  const Cq* const cq = client_.device.cqs.find(cqn);
  ASSERT_NE(cq, nullptr);
  EXPECT_TRUE(cq->collapsed);
  EXPECT_TRUE(cq->overrun_ignore);
  EXPECT_EQ(cq->entries, memory_->data() + kCqAt);
  EXPECT_EQ(reinterpret_cast<std::byte*>(cq->dbrec), memory_->data() + kDbrecAt);
  EXPECT_FALSE(cq->has_channel);

  ASSERT_EQ(run(about(Command::kQueryCq, cqn)), CommandStatus::kOk);
  const std::byte* const said = out_.data() + prm::query_cq::kContext;
  EXPECT_EQ(prm::get(said, prm::cqc::collapsed), 1u);
  EXPECT_EQ(prm::get(said, prm::cqc::overrun_ignore), 1u);
  EXPECT_EQ(prm::get(said, prm::cqc::status), 0u);
  EXPECT_EQ(run(about(Command::kDestroyCq, cqn)), CommandStatus::kOk);
  EXPECT_EQ(run(about(Command::kDestroyCq, cqn)), CommandStatus::kBadResource);
  EXPECT_EQ(run(about(Command::kQueryCq, cqn)), CommandStatus::kBadResource);
}

TEST_F(Create, QpRefusals) {
  using S = CommandStatus;
  const Row rows[] = {
      {"UD", [](auto*, auto* c) { prm::set(c, prm::qpc::service_type, 2); }, S::kBadParameter},
      {"DCT", [](auto*, auto* c) { prm::set(c, prm::qpc::service_type, 6); }, S::kBadParameter},
      {"shared receive queue without one", [](auto*, auto* c) { prm::set(c, prm::qpc::rq_type, 1); }, S::kBadResource},
      {"shared receive queue of nobody",
       [](auto*, auto* c) {
         prm::set(c, prm::qpc::rq_type, 1);
         prm::set(c, prm::qpc::srqn, 0x99);
       },
       S::kBadResource},
      {"shared receive queue, and another type", [](auto*, auto* c) { prm::set(c, prm::qpc::srqn, 0x99); },
       S::kBadResource},
      {"real-time timestamps", [](auto*, auto* c) { prm::set(c, prm::qpc::timestamp_format, 2); }, S::kBadParameter},
      {"a foreign PD", [](auto*, auto* c) { prm::set(c, prm::qpc::pd, 0x12); }, S::kBadResource},
      {"a foreign UAR page", [](auto*, auto* c) { prm::set(c, prm::qpc::uar_page, 8); }, S::kBadResource},
      {"no such send CQ", [](auto*, auto* c) { prm::set(c, prm::qpc::cqn_snd, 0x999); }, S::kBadResource},
      {"no such receive CQ", [](auto*, auto* c) { prm::set(c, prm::qpc::cqn_rcv, 0x999); }, S::kBadResource},
      {"regular RQ without a CQ", [](auto*, auto* c) { prm::set(c, prm::qpc::rq_type, 0); }, S::kBadResource},
      {"SQ past the umem's end", [](auto*, auto* c) { prm::set(c, prm::qpc::log_sq_size, 15); }, S::kBadSize},
      {"a foreign umem", [](auto* b, auto*) { prm::set(b, prm::create_qp::wq_umem_id, 6); }, S::kBadResource},
      {"umem not valid", [](auto* b, auto*) { prm::set(b, prm::create_qp::wq_umem_valid, 0); }, S::kBadParameter},
      {"SQ misaligned", [](auto* b, auto*) { prm::set(b, prm::create_qp::wq_umem_offset, kQueueAt + 16); },
       S::kBadParameter},
      {"dbrec misaligned", [](auto*, auto* c) { prm::set(c, prm::qpc::dbr_addr, kDbrecAt + 4); }, S::kBadParameter},
  };
  for (const auto& row : rows) {
    auto in = good_qp();
    row.spoil(in.data(), in.data() + prm::create_qp::kContext);
    EXPECT_EQ(run(in), row.expected) << row.what;
  }
  EXPECT_EQ(client_.device.qps.count(), 0u);
}

// The receive ring stands first, the send ring behind it.
TEST_F(Create, QpWithARegularReceiveQueue) {
  auto in = good_qp();
  std::byte* const c = in.data() + prm::create_qp::kContext;
  prm::set(c, prm::qpc::rq_type, 0);
  prm::set(c, prm::qpc::log_rq_size, 6);
  prm::set(c, prm::qpc::log_rq_stride, 2);
  prm::set(c, prm::qpc::cqn_rcv, cqn_);
  ASSERT_EQ(run(in), CommandStatus::kOk);
  const auto qpn = made();
  const Qp* const qp = client_.device.qps.find(qpn);
  ASSERT_NE(qp, nullptr);
  EXPECT_EQ(qp->config.rq.base, memory_->data() + kQueueAt);
  EXPECT_EQ(qp->config.rq.entries, 64u);
  EXPECT_EQ(qp->config.rq.stride_bytes, 64u);
  EXPECT_EQ(qp->config.sq.base, memory_->data() + kQueueAt + 64 * 64);
  EXPECT_EQ(qp->config.sq.wqebbs, 32u);
  EXPECT_EQ(client_.umems.at(kUmem).users, 4u) << "ring and dbrec of the CQ and of the QP";

  ASSERT_EQ(run(about(Command::kQueryQp, qpn)), CommandStatus::kOk);
  const std::byte* const said = out_.data() + prm::query_qp::kContext;
  EXPECT_EQ(prm::get(said, prm::qpc::state), 0u);
  EXPECT_EQ(prm::get(said, prm::qpc::log_rq_size), 6u);
  EXPECT_EQ(prm::get(said, prm::qpc::log_rq_stride), 2u);
  EXPECT_EQ(prm::get(said, prm::qpc::log_sq_size), 5u);
  EXPECT_EQ(prm::get(said, prm::qpc::user_index), 0xabcu);
  EXPECT_EQ(run(about(Command::kDestroyCq, cqn_)), CommandStatus::kResourceBusy);
  EXPECT_EQ(run(about(Command::kDestroyQp, qpn)), CommandStatus::kOk);
  EXPECT_EQ(run(about(Command::kDestroyCq, cqn_)), CommandStatus::kOk);
  EXPECT_EQ(client_.umems.at(kUmem).users, 0u);
}

// All objects of a QP must come from one context: firmware does not know another's.
TEST_F(Create, AnotherClientsObjectsDoNotExist) {
  const auto in = good_qp();
  const auto qpn = make_qp();
  Client other(engine_, engine_.device(0));
  Mailbox out(0x110);
  EXPECT_EQ(execute(other, in, out).status, CommandStatus::kBadResource);
  EXPECT_EQ(execute(other, about(Command::kQueryQp, qpn), out).status, CommandStatus::kBadResource);
  EXPECT_EQ(execute(other, about(Command::kDestroyQp, qpn), out).status, CommandStatus::kBadResource);
  EXPECT_EQ(execute(other, about(Command::kQp2Err, qpn), out).status, CommandStatus::kBadResource);
}

}  // namespace
}  // namespace marrow::cx7::fw
