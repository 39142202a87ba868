// SPDX-License-Identifier: Apache-2.0
// Unreliable connections: a lost packet takes its message along and nothing else, and nobody answers.
#include <gmock/gmock.h>

#include "cx7/hca/request_table.h"
#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

using wire::Syndrome;

class Uc : public testing::Test {
 protected:
  Uc() {
    remake(nic.a);
    remake(nic.b);
    nic.a.connect_to(nic.b, kUsual);
    nic.b.connect_to(nic.a, kUsual);
    std::memset(nic.a.buffer.data, 0xab, kBufferBytes);
  }
  void remake(Side& side) {
    const Engine::Lock lock(nic.engine);
    auto config = side.qp->config;
    nic.engine.remove_qp(side.device, *side.qp);
    config.qpn = side.device.qps.next_number();
    config.service = ServiceType::kUc;
    side.qp = &nic.engine.add_qp(side.device, config);
  }
  Syndrome run() {
    nic.a.announce();
    nic.run();
    const auto* cqe = nic.a.poll();
    EXPECT_NE(cqe, nullptr);
    return cqe != nullptr && cqe->is_error() ? cqe->syndrome : Syndrome::kNone;
  }
  /// A packet as `a` would send it.
  void inject(PacketOpcode operation, std::uint32_t psn, std::uint32_t bytes) {
    auto& fabric = nic.engine.fabric();
    const auto room = fabric.reserve(fabric.slot(), bytes);
    ASSERT_EQ(room.state, Reservation::State::kRoom);
    *room.packet = {.payload_bytes = bytes,
                    .dest_qpn = nic.b.qp->config.qpn,
                    .psn = psn,
                    .opcode = opcode_in(Transport::kUc, operation),
                    .from_device = 0,
                    .to_device = 1};
    std::memset(room.packet->payload(), static_cast<int>(psn), bytes);
    fabric.commit(fabric.slot());
    nic.run();
  }

  TwoSides nic;
};

TEST_F(Uc, NothingIsRead) {
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8, wire::Opcode::kRead));
  EXPECT_EQ(run(), Syndrome::kLocalQpOperation);
  EXPECT_EQ(nic.a.qp->state, QpState::kSqer);
}

TEST_F(Uc, WrongKeyIsSilence) {
  nic.a.put(wire::write_wqe(nic.a.next(), {nic.b.remote().addr, 0xdead}, nic.a.local(), 8));
  EXPECT_EQ(run(), Syndrome::kNone);
  EXPECT_EQ(nic.b.qp->state, QpState::kRts);
  EXPECT_EQ(nic.b.device.counters.packets_dropped, 1u);
  EXPECT_EQ(nic.b.device.counters.naks_sent, 0u);
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  EXPECT_EQ(run(), Syndrome::kNone);
  EXPECT_EQ(nic.b.buffer.data[7], std::byte{0xab}) << "the next one arrives";
}

TEST_F(Uc, SendWithoutAReceiveIsDropped) {
  nic.a.put(wire::send_wqe(nic.a.next(), nic.a.local(), 3000));
  EXPECT_EQ(run(), Syndrome::kNone);
  EXPECT_EQ(nic.b.device.counters.rnr_naks_sent, 0u);
  nic.b.post_recv(0, 4096);
  nic.a.put(wire::send_wqe(nic.a.next(), nic.a.local(), 3000));
  EXPECT_EQ(run(), Syndrome::kNone);
  const auto* cqe = nic.b.poll_recv();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->byte_count.host(), 3000u);
}

TEST_F(Uc, LostMiddleTakesItsMessageAlong) {
  nic.b.post_recv(0, 8192);
  inject(PacketOpcode::kSendFirst, 0, 1024);
  inject(PacketOpcode::kSendMiddle, 2, 1024);  // 1 is lost
  inject(PacketOpcode::kSendLast, 3, 100);
  EXPECT_EQ(nic.b.poll_recv(), nullptr);
  inject(PacketOpcode::kSendFirst, 4, 1024);
  inject(PacketOpcode::kSendLast, 5, 8);
  const auto* cqe = nic.b.poll_recv();
  ASSERT_NE(cqe, nullptr) << "the receive was kept for the next message";
  EXPECT_EQ(cqe->byte_count.host(), 1032u);
  EXPECT_EQ(nic.b.buffer.data[0], std::byte{4});
  EXPECT_EQ(nic.b.buffer.data[1024], std::byte{5});
  EXPECT_EQ(nic.b.device.counters.acks_sent, 0u);
}

TEST_F(Uc, LostEndOfOneMessageIsNoHarmToTheNext) {
  nic.b.post_recv(0, 8192);
  inject(PacketOpcode::kSendFirst, 0, 1024);
  inject(PacketOpcode::kSendOnly, 2, 16);
  const auto* cqe = nic.b.poll_recv();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->byte_count.host(), 16u);
}

TEST_F(Uc, WritesAndSendsArriveWhole) {
  nic.b.post_recv(8192, 8192);
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 5000));
  nic.a.put(wire::send_wqe(nic.a.next(), nic.a.local(), 5000));
  EXPECT_EQ(run(), Syndrome::kNone);
  EXPECT_NE(nic.a.poll(), nullptr);
  EXPECT_NE(nic.b.poll_recv(), nullptr);
  EXPECT_EQ(std::memcmp(nic.b.buffer.data, nic.a.buffer.data, 5000), 0);
  EXPECT_EQ(std::memcmp(nic.b.buffer.data + 8192, nic.a.buffer.data, 5000), 0);
}

}  // namespace
}  // namespace marrow::cx7::test
