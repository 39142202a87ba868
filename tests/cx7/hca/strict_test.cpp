// SPDX-License-Identifier: Apache-2.0
// Strict mode: what hardware may let pass is refused and counted, and lenient mode only counts it.
#include <gmock/gmock.h>

#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

wire::WriteWqe usual(Side& a, Side& b) {
  return wire::write_wqe(a.next(), b.remote(), a.local(), 8);
}

// Posts one WQE the right way; kNone when it completed, the syndrome when it was refused.
template <class Wqe>
wire::Syndrome outcome_of(TwoSides& nic, const Wqe& wqe) {
  nic.a.put(wqe);
  nic.a.announce();
  nic.run();
  const auto* cqe = nic.a.poll();
  EXPECT_NE(cqe, nullptr) << "neither completed nor refused";
  return cqe != nullptr && cqe->is_error() ? cqe->syndrome : wire::Syndrome::kNone;
}

TEST(Strict, StaleWqeIndexIsRefused) {
  TwoSides nic;
  auto post = nic.a.next();
  post.index = 41;
  EXPECT_EQ(outcome_of(nic, wire::write_wqe(post, nic.b.remote(), nic.a.local(), 8)),
            wire::Syndrome::kLocalQpOperation);
  EXPECT_EQ(nic.a.device.counters.strict_stale_wqe_index, 1u);
}

TEST(Strict, StaleWqeIndexPassesWhenLenient) {
  TwoSides nic(Checking::kLenient);
  auto post = nic.a.next();
  post.index = 41;
  EXPECT_EQ(outcome_of(nic, wire::write_wqe(post, nic.b.remote(), nic.a.local(), 8)), wire::Syndrome::kNone);
  EXPECT_EQ(nic.a.device.counters.strict_stale_wqe_index, 1u);
}

TEST(Strict, WqeOfAnotherQpIsRefused) {
  TwoSides nic;
  auto post = nic.a.next();
  post.qpn ^= 1;
  EXPECT_EQ(outcome_of(nic, wire::write_wqe(post, nic.b.remote(), nic.a.local(), 8)),
            wire::Syndrome::kLocalQpOperation);
}

// One bit in each reserved place of the control and the remote address segment.
TEST(Strict, ReservedBitsAreRefused) {
  for (const auto& [byte, bit] :
       {std::pair{0, 0x01}, {7, 0x40}, {8, 0x01}, {9, 0x80}, {11, 0x10}, {11, 0x01}, {28, 0x80}}) {
    TwoSides nic;
    auto wqe = usual(nic.a, nic.b);
    reinterpret_cast<std::uint8_t*>(&wqe)[byte] |= static_cast<std::uint8_t>(bit);
    EXPECT_EQ(outcome_of(nic, wqe), wire::Syndrome::kLocalQpOperation) << byte;
    EXPECT_EQ(nic.a.device.counters.strict_wqe_reserved_bits, 1u) << byte;
  }
}

// libmlx5's ibv_wr_* calls leave old bytes in the immediate's place of an opcode without one.
TEST(Strict, ImmediateOfAnOpcodeWithoutOneMeansNothing) {
  TwoSides nic;
  auto wqe = usual(nic.a, nic.b);
  wqe.ctrl.imm = wire::be32(0x4bdfb7d0);
  EXPECT_EQ(outcome_of(nic, wqe), wire::Syndrome::kNone);
}

// The halves of a register carry no order: the older value may be seen last.
TEST(Strict, OlderHalfSeenLaterIsNoSecondRing) {
  TwoSides nic;
  nic.a.put(usual(nic.a, nic.b));
  nic.a.put(usual(nic.a, nic.b));
  nic.a.announce();
  nic.run();
  nic.a.ring_word(wire::doorbell_word(nic.a.qp->config.qpn, 1), 0x900);
  nic.run();
  EXPECT_EQ(nic.a.device.counters.strict_doorbell_without_work, 0u);
}

TEST(Strict, UnknownOpcodeIsRefused) {
  TwoSides nic;
  auto wqe = usual(nic.a, nic.b);
  reinterpret_cast<std::uint8_t*>(&wqe)[3] = 0x25;
  EXPECT_EQ(outcome_of(nic, wqe), wire::Syndrome::kLocalQpOperation);
}

// A WQE that claims more blocks than were announced is not executed by halves.
TEST(Strict, WqeLongerThanWhatWasPostedIsRefused) {
  TwoSides nic;
  auto wqe = usual(nic.a, nic.b);
  reinterpret_cast<std::uint8_t*>(&wqe)[7] = 5;
  EXPECT_EQ(outcome_of(nic, wqe), wire::Syndrome::kLocalQpOperation);
}

TEST(Strict, DoorbellWithoutNewWorkIsCounted) {
  TwoSides nic;
  nic.a.put(usual(nic.a, nic.b));
  nic.a.announce();
  nic.run();
  nic.a.ring();
  nic.run();
  EXPECT_EQ(nic.a.device.counters.strict_doorbell_without_work, 1u);
  EXPECT_NE(nic.a.poll(), nullptr);
  EXPECT_EQ(nic.a.poll(), nullptr);
}

TEST(Strict, DoorbellOnAnotherPageIsRefused) {
  TwoSides nic;
  Aligned page(wire::kUarBytes);
  {
    const Engine::Lock lock(nic.engine);
    nic.engine.add_uar(nic.a.device, 9, page.data);
  }
  nic.a.put(usual(nic.a, nic.b));
  nic.a.record();
  *reinterpret_cast<std::uint64_t*>(page.data + wire::kUarBlueFlame) = wire::doorbell_word(nic.a.qp->config.qpn, 1);
  nic.run();
  EXPECT_EQ(nic.a.poll(), nullptr);
  EXPECT_EQ(nic.a.device.counters.strict_doorbell_wrong_page, 1u);
}

// A record that moves without a doorbell is the bug "forgot to ring": nothing runs, and it is counted once.
TEST(Strict, RecordNeverRungIsNotExecuted) {
  TwoSides nic;
  nic.a.put(usual(nic.a, nic.b));
  nic.a.record();
  nic.run_for(std::chrono::milliseconds(600));
  EXPECT_EQ(nic.a.poll(), nullptr);
  EXPECT_EQ(nic.a.device.counters.strict_dbrec_never_rung, 1u);
  nic.a.ring();
  nic.run();
  EXPECT_NE(nic.a.poll(), nullptr) << "a late ring is still a ring";
}

TEST(Strict, RecordNeverRungIsExecutedWhenLenient) {
  TwoSides nic(Checking::kLenient);
  nic.a.put(usual(nic.a, nic.b));
  nic.a.record();
  nic.run_for(std::chrono::milliseconds(600));
  EXPECT_NE(nic.a.poll(), nullptr);
  EXPECT_EQ(nic.a.device.counters.strict_dbrec_never_rung, 1u);
}

// Ring first, record later (the order of a bug, or of a GPU without a fence): held until the record says so.
TEST(Strict, DoorbellAheadOfItsRecordWaitsForASecondRing) {
  TwoSides nic;
  nic.a.put(usual(nic.a, nic.b));
  nic.a.ring();
  nic.run();
  EXPECT_EQ(nic.a.poll(), nullptr);
  EXPECT_EQ(nic.a.device.counters.strict_doorbell_ahead_of_dbrec, 1u);
  nic.a.put(usual(nic.a, nic.b));
  nic.a.announce();
  nic.run();
  EXPECT_NE(nic.a.poll(), nullptr);
  EXPECT_NE(nic.a.poll(), nullptr);
}

// Two QPs on one register: the second ring overwrites the first before the device looks.
// A GPU's record may be ahead of its WQE's bytes: only the doorbell stands behind them.
TEST(Doorbell, RecordAheadIsNotBelievedOfAQueueWithARegisterOfItsOwn) {
  TwoSides nic;
  nic.a.put(usual(nic.a, nic.b));
  nic.a.announce();
  const auto first = wire::doorbell_word(nic.a.qp->config.qpn, nic.a.pi);
  nic.run();
  nic.a.put(usual(nic.a, nic.b));
  nic.a.record();  // its bytes are still on their way
  nic.a.ring_word(first);
  nic.run();
  EXPECT_EQ(nic.a.device.counters.wqes_fetched, 1u);
  nic.a.ring();
  nic.run();
  EXPECT_EQ(nic.a.device.counters.wqes_fetched, 2u);
}

TEST(Doorbell, OverwrittenRingIsFoundThroughTheRecord) {
  TwoSides nic;
  Side other(nic.engine, 0);
  // A Side brings its own page 7; the first page of that number is the one both QPs are bound to.
  Side peer(nic.engine, 1);
  other.connect_to(peer, kUsual);
  peer.connect_to(other, kUsual);
  nic.a.put(usual(nic.a, nic.b));
  nic.a.announce();
  other.put(wire::write_wqe(other.next(), peer.remote(), other.local(), 8));
  other.record();
  nic.a.ring_word(wire::doorbell_word(other.qp->config.qpn, other.pi));
  nic.run();
  EXPECT_NE(nic.a.poll(), nullptr);
  EXPECT_NE(other.poll(), nullptr);
}

}  // namespace
}  // namespace marrow::cx7::test
