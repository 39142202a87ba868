// SPDX-License-Identifier: Apache-2.0
// Unreliable datagrams: what is dropped and counted, what the sender's own mistakes become, and what arrives.
#include <gmock/gmock.h>

#include "marrow/wire/dc.h"
#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

using wire::Syndrome;
constexpr std::uint32_t kQkey = 0x11111111;
constexpr std::uint8_t kGrhMark = 0x6e;

// The LID is the device's number plus one.
std::uint8_t lid_of(const wire::AddressVector& av) {
  const auto lid = av.compact.rlid.host();
  return lid == 1 || lid == 2 ? static_cast<std::uint8_t>(lid - 1) : kNoDevice;
}
bool mark_grh(std::uint8_t, const wire::AddressVector&, std::uint32_t, GrhSpace to) {
  std::memset(to.data(), kGrhMark, to.size());
  return true;
}

struct Datagram {
  wire::CtrlSegment ctrl;
  wire::AddressVector av;
  wire::DataSegment data;
};

class Ud : public testing::Test {
 protected:
  Ud() {
    remake(nic.a);
    remake(nic.b);
    std::memset(nic.a.buffer.data, 0xab, kBufferBytes);
  }
  void remake(Side& side) {
    const Engine::Lock lock(nic.engine);
    auto config = side.qp->config;
    nic.engine.remove_qp(side.device, *side.qp);
    config.qpn = side.device.qps.next_number();
    config.service = ServiceType::kUd;
    config.routing = {.device_of = lid_of, .lids = {1, 2}, .write_grh = mark_grh};
    side.qp = &nic.engine.add_qp(side.device, config);
    QpAttributes attributes{.mtu_bytes = 4096, .qkey = kQkey};
    for (const auto to : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
      ASSERT_EQ(nic.engine.modify_qp(side.device, *side.qp, to, attributes), Engine::Modify::kOk);
    }
  }
  wire::AddressVector to(std::uint32_t qpn, std::uint32_t qkey = kQkey) {
    auto av = wire::infiniband_av({.key = std::uint64_t{qkey} << 32, .dctn = qpn, .lid = 2, .sl = 3});
    av.compact = wire::av_head(av, wire::kFullAvDs);
    return av;
  }
  void put(const wire::AddressVector& av, std::uint32_t bytes, wire::Opcode opcode = wire::Opcode::kSend) {
    auto post = nic.a.next();
    post.imm = 0x01020304;
    nic.a.put(Datagram{wire::ctrl_segment(post, opcode, 5), av, wire::data_segment(nic.a.local(), bytes)});
  }
  /// Of the sender's next CQE.
  Syndrome run() {
    nic.a.announce();
    nic.run();
    const auto* cqe = nic.a.poll();
    EXPECT_NE(cqe, nullptr);
    return cqe != nullptr && cqe->is_error() ? cqe->syndrome : Syndrome::kNone;
  }
  Counters& counters() { return nic.b.device.counters; }

  TwoSides nic;
};

TEST_F(Ud, AnotherQkeyIsDroppedAndCounted) {
  nic.b.post_recv(0, 256);
  put(to(nic.b.qp->config.qpn, kQkey + 1), 64);
  EXPECT_EQ(run(), Syndrome::kNone) << "the sender never hears of it";
  EXPECT_EQ(nic.b.poll_recv(), nullptr);
  EXPECT_EQ(counters().qkey_violations, 1u);
}

TEST_F(Ud, NobodyThereIsSilence) {
  put(to(nic.b.qp->config.qpn + 77), 64);
  EXPECT_EQ(run(), Syndrome::kNone);
  EXPECT_EQ(counters().packets_dropped, 1u);
  put(to(0xfe0000 | nic.b.qp->config.qpn), 64);  // a process that does not exist
  EXPECT_EQ(run(), Syndrome::kNone);
}

TEST_F(Ud, WithoutAReceiveItIsDroppedAndCounted) {
  put(to(nic.b.qp->config.qpn), 64);
  EXPECT_EQ(run(), Syndrome::kNone);
  EXPECT_EQ(counters().datagrams_without_receive, 1u);
  EXPECT_EQ(counters().rnr_naks_sent, 0u);
}

TEST_F(Ud, PacketsOfOtherTransportsNeverCame) {
  nic.b.post_recv(0, 256);
  auto& fabric = nic.engine.fabric();
  const auto room = fabric.reserve(fabric.slot(), 0);
  ASSERT_EQ(room.state, Reservation::State::kRoom);
  *room.packet = {.dest_qpn = nic.b.qp->config.qpn, .opcode = PacketOpcode::kSendOnly, .rkey = kQkey, .to_device = 1};
  fabric.commit(fabric.slot());
  nic.run();
  EXPECT_EQ(nic.b.poll_recv(), nullptr);
  EXPECT_EQ(counters().packets_dropped, 1u);
}

TEST_F(Ud, LongerThanTheMtuEndsTheSendQueueAlone) {
  nic.b.post_recv(0, 8192);
  put(to(nic.b.qp->config.qpn), 4097);
  EXPECT_EQ(run(), Syndrome::kLocalLength);
  EXPECT_EQ(nic.a.qp->state, QpState::kSqer);
  put(to(nic.b.qp->config.qpn), 64);
  nic.a.announce();
  nic.run_for(std::chrono::milliseconds(5));
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, Syndrome::kFlushed) << "until it is brought back to RTS";
  {
    const Engine::Lock lock(nic.engine);
    ASSERT_EQ(nic.engine.modify_qp(nic.a.device, *nic.a.qp, QpState::kRts, nic.a.qp->attributes), Engine::Modify::kOk);
  }
  put(to(nic.b.qp->config.qpn), 64);
  EXPECT_EQ(run(), Syndrome::kNone);
  EXPECT_NE(nic.b.poll_recv(), nullptr);
}

TEST_F(Ud, CarriesSendsOnly) {
  put(to(nic.b.qp->config.qpn), 64, wire::Opcode::kWrite);
  EXPECT_EQ(run(), Syndrome::kLocalQpOperation);
}

TEST_F(Ud, ReceiveWithoutRoomForTheHeaderFails) {
  nic.b.post_recv(0, 64);
  put(to(nic.b.qp->config.qpn), 64);
  EXPECT_EQ(run(), Syndrome::kNone);
  const auto* cqe = nic.b.poll_recv();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, Syndrome::kLocalLength);
}

TEST_F(Ud, ArrivesBehindFortyBytesThatStayAsTheyWere) {
  std::memset(nic.b.buffer.data, 0x55, 256);
  nic.b.post_recv(0, 256);
  put(to(nic.b.qp->config.qpn), 100, wire::Opcode::kSendImm);
  EXPECT_EQ(run(), Syndrome::kNone);
  const auto* cqe = nic.b.poll_recv();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->opcode(), wire::CqeOpcode::kRecvSendImm);
  EXPECT_EQ(cqe->byte_count.host(), 140u);
  EXPECT_EQ(cqe->imm.host(), 0x01020304u);
  EXPECT_EQ(cqe->flags_rqpn.host(), 3u << 24 | nic.a.qp->config.qpn) << "no GRH, the service level, the source";
  EXPECT_EQ(cqe->slid.host(), 1u);
  EXPECT_EQ(nic.b.buffer.data[39], std::byte{0x55});
  EXPECT_EQ(std::memcmp(nic.b.buffer.data + 40, nic.a.buffer.data, 100), 0);
  EXPECT_EQ(nic.b.buffer.data[140], std::byte{0x55});
}

TEST_F(Ud, GlobalHeaderIsPartOfTheBuffer) {
  nic.b.post_recv(0, 256);
  auto av = to(nic.b.qp->config.qpn);
  av.extension.grh = wire::be32(1u << 30);
  put(av, 100);
  EXPECT_EQ(run(), Syndrome::kNone);
  const auto* cqe = nic.b.poll_recv();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->flags_rqpn.host() >> 28, 1u);
  EXPECT_EQ(nic.b.buffer.data[0], std::byte{kGrhMark});
  EXPECT_EQ(nic.b.buffer.data[39], std::byte{kGrhMark});
  EXPECT_EQ(std::memcmp(nic.b.buffer.data + 40, nic.a.buffer.data, 100), 0);
}

TEST_F(Ud, HighBitOfTheQkeyMeansTheQpsOwn) {
  nic.b.post_recv(0, 256);
  put(to(nic.b.qp->config.qpn, 0x80000000), 8);
  EXPECT_EQ(run(), Syndrome::kNone);
  EXPECT_NE(nic.b.poll_recv(), nullptr);
}

}  // namespace
}  // namespace marrow::cx7::test
