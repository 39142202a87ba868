// SPDX-License-Identifier: Apache-2.0
// CQs: owner bit over laps, overrun, collapsed, overrun-ignore, events.
#include <gmock/gmock.h>

#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

struct Sink : EventSink {
  void completion_event(Cq&) override { ++completions; }
  void async_event(AsyncEvent event) override { ++(event == AsyncEvent::kCqError ? cq_errors : qp_errors); }
  int completions = 0;
  int cq_errors = 0;
  int qp_errors = 0;
};

void write_once(TwoSides& nic) {
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  nic.a.announce();
  nic.run();
}

TEST(Completion, OverrunKillsTheCqAndItsQps) {
  TwoSides nic;
  Sink sink;
  nic.a.scq->events = &sink;
  for (std::uint32_t k = 0; k <= 1u << kLogCq; ++k) write_once(nic);  // nobody polls
  EXPECT_TRUE(nic.a.scq->dead);
  EXPECT_EQ(sink.cq_errors, 1);
  EXPECT_EQ(nic.a.qp->state, QpState::kError);
  EXPECT_EQ(nic.a.device.counters.cq_overruns, 1u);
}

TEST(Completion, OverrunIgnoreGoesOn) {
  TwoSides nic;
  nic.a.scq->overrun_ignore = true;
  for (std::uint32_t k = 0; k < 3u << kLogCq; ++k) write_once(nic);
  EXPECT_FALSE(nic.a.scq->dead);
  EXPECT_EQ(nic.a.scq->pi, 3u << kLogCq);
}

TEST(Completion, OwnerBitTurnsWithEachLap) {
  TwoSides nic;
  for (std::uint32_t k = 0; k < 3u << kLogCq; ++k) {
    write_once(nic);
    ASSERT_NE(nic.a.poll(), nullptr) << k;
    ASSERT_EQ(nic.a.poll(), nullptr) << k;
  }
}

TEST(Completion, CollapsedCqWritesOnlyItsFirstEntry) {
  TwoSides nic;
  nic.a.scq->collapsed = nic.a.scq->overrun_ignore = true;
  for (int k = 0; k < 300; ++k) write_once(nic);
  const auto* cqe = reinterpret_cast<const wire::Cqe*>(nic.a.send_cq.data);
  EXPECT_EQ(cqe[0].wqe_counter.host(), 299);
  EXPECT_EQ(cqe[1].op_own, 0xff);
}

TEST(Completion, ArmedCqFiresOnceForEachArm) {
  TwoSides nic;
  Sink sink;
  {
    const Engine::Lock lock(nic.engine);
    nic.a.scq->has_channel = true;
    nic.a.scq->events = &sink;
    nic.a.send_cq_dbrec->arm = wire::be32(kArmPoison);
    nic.a.device.channel_cqs.push_back(nic.a.scq);
  }
  write_once(nic);
  EXPECT_EQ(sink.completions, 0) << "not armed";
  nic.a.send_cq_dbrec->arm = wire::be32(1);  // armed behind the CQE already seen
  write_once(nic);
  EXPECT_EQ(sink.completions, 1);
  write_once(nic);
  EXPECT_EQ(sink.completions, 1) << "an event is one event";
  // Armed again when a CQE came meanwhile: fires at once, without another one.
  nic.a.send_cq_dbrec->arm = wire::be32(1u << 28 | 2);
  nic.a.ring_word(1, wire::kUarCqArm);
  nic.run();
  EXPECT_EQ(sink.completions, 2);
  nic.a.send_cq_dbrec->arm = wire::be32(2u << 28 | 2);
  nic.a.ring_word(1, wire::kUarCqArm);
  nic.run();
  EXPECT_EQ(sink.completions, 2) << "nobody is told of the same CQE twice";
}

TEST(Completion, FullCqCannotMove) {
  TwoSides nic;
  Aligned to(wire::kCqeBytes << kLogCq, 0xff);
  for (std::uint32_t k = 0; k < 1u << kLogCq; ++k) write_once(nic);
  const Engine::Lock lock(nic.engine);
  EXPECT_FALSE(nic.engine.resize_cq(nic.a.device, *nic.a.scq, {.entries = to.data, .log_entries = kLogCq}));
}

TEST(Completion, MoreUnreadThanTheNewMemoryHolds) {
  TwoSides nic;
  Aligned to(4096, 0xff);
  for (int k = 0; k < 4; ++k) write_once(nic);
  const Engine::Lock lock(nic.engine);
  EXPECT_FALSE(nic.engine.resize_cq(nic.a.device, *nic.a.scq, {.entries = to.data, .log_entries = 2}));
}

TEST(Completion, ResizedCqSaysSoAndGoesOnElsewhere) {
  TwoSides nic;
  Aligned to(4096, 0xff);
  write_once(nic);
  {
    const Engine::Lock lock(nic.engine);
    ASSERT_TRUE(nic.engine.resize_cq(nic.a.device, *nic.a.scq, {.entries = to.data, .log_entries = 3}));
  }
  write_once(nic);
  ASSERT_NE(nic.a.poll(), nullptr);
  const auto* last = nic.a.poll();
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->opcode(), wire::CqeOpcode::kResize);
  EXPECT_EQ(nic.a.poll(), nullptr);
  const auto* next = reinterpret_cast<const wire::Cqe*>(to.data) + 2;
  EXPECT_TRUE(wire::cqe_is_valid(next->op_own, 2, 3)) << "indices go on";
}

TEST(Completion, SolicitedArmIgnoresOrdinaryCqes) {
  TwoSides nic;
  Sink sink;
  nic.a.scq->has_channel = true;
  nic.a.scq->events = &sink;
  nic.a.send_cq_dbrec->arm = wire::be32(1u << 24);
  write_once(nic);
  EXPECT_EQ(sink.completions, 0);
}

}  // namespace
}  // namespace marrow::cx7::test
