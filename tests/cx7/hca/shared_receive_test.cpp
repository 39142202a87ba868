// SPDX-License-Identifier: Apache-2.0
// Shared receive queues: the chain is followed, the limit tells once, a QP in error takes no more; XRC targets take
// from the SRQ that a message names, if it is one of their domain.
#include <gmock/gmock.h>

#include <vector>

#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

constexpr std::uint32_t kSlots = 8;
constexpr std::uint32_t kSlotBytes = 32;  // the chain's segment and one data segment

struct EventList : EventSink {
  void async_event(AsyncEvent event) override { events.push_back(event); }
  std::vector<AsyncEvent> events;
};

class SharedReceive : public testing::Test {
 protected:
  SharedReceive() {
    const Engine::Lock lock(nic.engine);
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      const wire::be16 next(static_cast<std::uint16_t>((slot * 3 + 1) % kSlots));  // no slot twice: 0 1 4 5 0 ...
      std::memcpy(ring.data + slot * kSlotBytes + 2, &next, sizeof next);
    }
    record = reinterpret_cast<wire::be32*>(ring.data + 2048);
    srq = &nic.engine.add_srq(nic.b.device, {.srqn = nic.b.device.srqs.next_number(),
                                             .pdn = nic.b.pdn,
                                             .base = ring.data,
                                             .entries = kSlots,
                                             .stride_bytes = kSlotBytes,
                                             .dbrec = record,
                                             .events = &srq_events});
    config = nic.b.qp->config;
    config.rq = {};
    config.srq = srq;
    config.events = &qp_events;
  }
  void connect(const QpAttributes& attributes = kUsual) {
    {
      const Engine::Lock lock(nic.engine);
      nic.engine.remove_qp(nic.b.device, *nic.b.qp);
      config.qpn = nic.b.device.qps.next_number();
      nic.b.qp = &nic.engine.add_qp(nic.b.device, config);
      ASSERT_EQ(nic.engine.modify_qp(nic.a.device, *nic.a.qp, QpState::kReset, {}), Engine::Modify::kOk);
    }
    nic.a.connect_to(nic.b, attributes);
    nic.b.connect_to(nic.a, attributes);
  }
  void post(std::uint32_t slot, std::size_t offset) {
    const auto segment = wire::data_segment(nic.b.local(offset), 64);
    std::memcpy(ring.data + slot * kSlotBytes + 16, &segment, sizeof segment);
    *record = wire::be32(++posted);
  }
  void send() {
    nic.a.put(wire::send_wqe(nic.a.next(), nic.a.local(), 8));
    nic.a.announce();
    nic.run();
  }

  TwoSides nic;
  Aligned ring{4096};
  wire::be32* record = nullptr;
  Srq* srq = nullptr;
  EventList srq_events;
  EventList qp_events;
  QpConfig config;
  std::uint32_t posted = 0;
};

TEST_F(SharedReceive, EmptyIsReceiverNotReady) {
  connect();
  send();
  EXPECT_GE(nic.b.device.counters.rnr_naks_sent, 1u);
  EXPECT_EQ(nic.b.poll_recv(), nullptr);
}

TEST_F(SharedReceive, FollowsTheChain) {
  connect();
  std::uint32_t slot = 0;
  for (std::size_t k = 0; k < 3; ++k, slot = (slot * 3 + 1) % kSlots) {
    post(slot, 256 * k);
    std::memset(nic.a.buffer.data, static_cast<int>(k + 1), 8);
    send();
    const auto* cqe = nic.b.poll_recv();
    ASSERT_NE(cqe, nullptr) << k;
    EXPECT_EQ(cqe->wqe_counter.host(), slot) << "the slot's number, not a count";
    EXPECT_EQ(nic.b.buffer.data[256 * k], std::byte(k + 1));
  }
}

TEST_F(SharedReceive, LimitTellsOnce) {
  connect();
  srq->limit = 2;
  post(0, 0);
  post(1, 64);
  post(4, 128);
  send();
  EXPECT_THAT(srq_events.events, testing::IsEmpty()) << "two are left";
  send();
  send();
  EXPECT_THAT(srq_events.events, testing::ElementsAre(AsyncEvent::kSrqLimit));
  EXPECT_EQ(srq->limit, 0u);
}

TEST_F(SharedReceive, QpInErrorLeavesTheRestAndSaysSo) {
  connect();
  post(0, 0);
  {
    const Engine::Lock lock(nic.engine);
    ASSERT_EQ(nic.engine.modify_qp(nic.b.device, *nic.b.qp, QpState::kError, {}), Engine::Modify::kOk);
  }
  nic.run();
  EXPECT_EQ(nic.b.poll_recv(), nullptr) << "a WQE of the SRQ is not this QP's to flush";
  EXPECT_THAT(qp_events.events, testing::ElementsAre(AsyncEvent::kLastWqeReached));
}

TEST_F(SharedReceive, PeerThatMayNotWriteIsAnEventHere) {
  connect();
  nic.a.put(wire::write_wqe(nic.a.next(), {nic.b.remote().addr, 0xdead}, nic.a.local(), 8));
  nic.a.announce();
  nic.run();
  EXPECT_THAT(qp_events.events, testing::ElementsAre(AsyncEvent::kLastWqeReached, AsyncEvent::kQpAccessError));
}

TEST_F(SharedReceive, FirstPacketBeforeRtsEstablishes) {
  connect();
  nic.b.qp->state = QpState::kRtr;
  post(0, 0);
  post(1, 0);
  send();
  send();
  EXPECT_THAT(qp_events.events, testing::ElementsAre(AsyncEvent::kCommunicationEstablished)) << "once";
}

class Xrc : public SharedReceive {
 protected:
  struct XrcSend {
    wire::CtrlSegment ctrl;
    wire::be32 srqn;
    std::array<std::byte, 12> reserved;
    wire::DataSegment data;
  };
  Xrc() {
    srq->xrcd = 5;
    srq->cq = nic.b.rcq;
    srq->user_index = 0x99;
    config.service = ServiceType::kXrc;
    config.srq = nullptr;
    config.recv_cq = nullptr;
    config.pdn = 0;
    const Engine::Lock lock(nic.engine);
    auto initiator = nic.a.qp->config;
    nic.engine.remove_qp(nic.a.device, *nic.a.qp);
    initiator.qpn = nic.a.device.qps.next_number();
    initiator.service = ServiceType::kXrc;
    nic.a.qp = &nic.engine.add_qp(nic.a.device, initiator);
  }
  void send_to(std::uint32_t srqn) {
    nic.a.put(XrcSend{wire::ctrl_segment(nic.a.next(), wire::Opcode::kSend, 3),
                      wire::be32(srqn),
                      {},
                      wire::data_segment(nic.a.local(), 8)});
    nic.a.announce();
    nic.run();
  }
};

TEST_F(Xrc, SrqOfAnotherDomainIsAnInvalidRequest) {
  config.xrcd = 6;
  connect();
  post(0, 0);
  send_to(srq->srqn);
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kRemoteInvalidRequest);
}

TEST_F(Xrc, NoSuchSrqIsAnInvalidRequest) {
  config.xrcd = 5;
  connect();
  send_to(srq->srqn + 1);
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kRemoteInvalidRequest);
}

TEST_F(Xrc, CompletesInTheCqOfTheSrqThatTheMessageNames) {
  config.xrcd = 5;
  connect();
  post(0, 0);
  send_to(srq->srqn);
  const auto* sent = nic.a.poll();
  ASSERT_NE(sent, nullptr);
  EXPECT_FALSE(sent->is_error());
  const auto* cqe = nic.b.poll_recv();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->user_index.host(), 0x99u);
  EXPECT_EQ(cqe->qpn(), nic.b.qp->config.qpn);
}

// A pool of a DEVX caller may be cyclic: slots in their order, with or without the segment that begins a chain's.
TEST_F(SharedReceive, ACyclicOneIsTakenSlotBySlot) {
  srq->cyclic = true;
  srq->header_bytes = 0;
  connect();
  for (std::uint32_t k = 0; k < 2; ++k) {
    const auto segment = wire::data_segment(nic.b.local(64 * std::size_t{k}), 64);
    const wire::DataSegment end{wire::be32(0), wire::be32(wire::kInvalidLkey), wire::be64(0)};
    std::memcpy(ring.data + k * kSlotBytes, &segment, sizeof segment);
    std::memcpy(ring.data + k * kSlotBytes + 16, &end, sizeof end);
    *record = wire::be32(++posted);
  }
  for (std::uint16_t k = 0; k < 2; ++k) {
    nic.a.buffer.data[0] = static_cast<std::byte>(0x40 + k);
    send();
    nic.run();
    const auto* cqe = nic.b.poll_recv();
    ASSERT_NE(cqe, nullptr);
    EXPECT_EQ(cqe->wqe_counter.host(), k);
    EXPECT_EQ(nic.b.buffer.data[64 * k], static_cast<std::byte>(0x40 + k));
  }
}

}  // namespace
}  // namespace marrow::cx7::test
