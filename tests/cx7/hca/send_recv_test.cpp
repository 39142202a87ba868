// SPDX-License-Identifier: Apache-2.0
// Two-sided traffic: receive WQEs, immediates, receiver not ready.
#include <gmock/gmock.h>

#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

TEST(Send, LongerThanTheReceiveFailsOnBothSides) {
  TwoSides nic;
  nic.b.post_recv(0, 16);
  nic.a.put(wire::send_wqe(nic.a.next(), nic.a.local(), 17));
  nic.a.announce();
  nic.run();
  const auto* received = nic.b.poll_recv();
  ASSERT_NE(received, nullptr);
  EXPECT_EQ(received->opcode(), wire::CqeOpcode::kResponderError);
  EXPECT_EQ(received->syndrome, wire::Syndrome::kLocalLength);
  const auto* sent = nic.a.poll();
  ASSERT_NE(sent, nullptr);
  EXPECT_EQ(sent->syndrome, wire::Syndrome::kRemoteInvalidRequest);
}

// With a finite count the sender gives up; the receiver stays usable.
TEST(Send, ReceiverNotReadyEndsAfterItsRetries) {
  auto attributes = kUsual;
  attributes.rnr_retry = 2;
  TwoSides nic(Checking::kStrict, attributes);
  nic.a.put(wire::send_wqe(nic.a.next(), nic.a.local(), 8));
  nic.a.announce();
  nic.run_for(std::chrono::milliseconds(10));
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kRnrRetryExceeded);
  EXPECT_EQ(nic.b.device.counters.rnr_naks_sent, 3u);
  EXPECT_EQ(nic.b.qp->state, QpState::kRts);
}

TEST(Send, WaitsForALateReceive) {
  TwoSides nic;
  std::memset(nic.a.buffer.data, 0x5c, 5000);
  nic.a.put(wire::send_wqe(nic.a.next(), nic.a.local(), 5000));
  nic.a.announce();
  nic.run_for(std::chrono::milliseconds(2));
  EXPECT_EQ(nic.a.poll(), nullptr);
  EXPECT_EQ(nic.b.device.counters.naks_sent, 0u) << "the rest of a burst that found no receive is no gap";
  nic.b.post_recv(100, 6000);
  nic.run_for(std::chrono::milliseconds(5));
  const auto* cqe = nic.b.poll_recv();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->opcode(), wire::CqeOpcode::kRecvSend);
  EXPECT_EQ(cqe->byte_count.host(), 5000u);
  EXPECT_EQ(std::memcmp(nic.b.buffer.data + 100, nic.a.buffer.data, 5000), 0);
  EXPECT_NE(nic.a.poll(), nullptr);
}

TEST(Send, ImmediateAndSolicitedArriveAsSent) {
  TwoSides nic;
  nic.b.post_recv(0, 64);
  auto post = nic.a.next();
  post.imm = 0x11223344;
  post.solicited = wire::Solicited::kYes;
  nic.a.put(wire::send_wqe(post, nic.a.local(), 8, wire::Opcode::kSendImm));
  nic.a.announce();
  nic.run();
  const auto* cqe = nic.b.poll_recv();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->opcode(), wire::CqeOpcode::kRecvSendImm);
  EXPECT_EQ(cqe->imm.host(), 0x11223344u);
  EXPECT_EQ(cqe->op_own & 2, 2);
}

TEST(WriteImm, TakesAReceiveAndSaysWhatArrived) {
  TwoSides nic;
  nic.b.post_recv(0, 0);
  auto post = nic.a.next();
  post.imm = 0xcafe;
  nic.a.put(wire::write_wqe(post, nic.b.remote(512), nic.a.local(), 3000, wire::Opcode::kWriteImm));
  nic.a.announce();
  nic.run();
  const auto* cqe = nic.b.poll_recv();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->opcode(), wire::CqeOpcode::kRecvWriteImm);
  EXPECT_EQ(cqe->byte_count.host(), 3000u);
  EXPECT_EQ(cqe->imm.host(), 0xcafeu);
  EXPECT_EQ(cqe->wqe_counter.host(), 0);
}

TEST(Send, PostedReceivesAreFlushedWithTheQp) {
  TwoSides nic;
  nic.b.post_recv(0, 64);
  nic.b.post_recv(64, 64);
  {
    const Engine::Lock lock(nic.engine);
    nic.engine.modify_qp(nic.b.device, *nic.b.qp, QpState::kError, {});
  }
  for (std::uint16_t k = 0; k < 2; ++k) {
    const auto* cqe = nic.b.poll_recv();
    ASSERT_NE(cqe, nullptr);
    EXPECT_EQ(cqe->syndrome, wire::Syndrome::kFlushed);
    EXPECT_EQ(cqe->wqe_counter.host(), k);
  }
}

}  // namespace
}  // namespace marrow::cx7::test
