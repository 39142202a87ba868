// SPDX-License-Identifier: Apache-2.0
// One worker, round by round: how requests are chained and signalled, when slots go back, what completes when, who is
// looked at first, what holds it up.
#include <gmock/gmock.h>

#include "proxy/one_worker.h"

namespace marrow::proxy::testing {
namespace {

using gda::Status;
using ::testing::Each;
using ::testing::ElementsAre;

TEST(Worker, WritesWhatWasPutAndSaysSo) {
  OneWorker<> one;
  const auto ticket = one.lane().put({.from = 100, .to = 100, .bytes = 77});
  EXPECT_EQ(one.lane().wait(ticket), Status::kTimeout) << "nobody has looked yet";
  one.rounds();
  EXPECT_EQ(one.lane().wait(ticket), Status::kOk);
  EXPECT_TRUE(one.arrived(100, 77));
  EXPECT_EQ(one.to[99], std::byte{});
  EXPECT_EQ(one.to[177], std::byte{});
}

TEST(Worker, ChainsABatchIntoOnePost) {
  OneWorker<> one({.batch = 16, .take_per_visit = 64});
  for (std::uint64_t i = 0; i < 40; ++i) ASSERT_EQ(one.lane().put(put_at(i)).status, Status::kOk);
  one.rounds();
  EXPECT_THAT(one.qp().chains, ElementsAre(16, 16, 8)) << "what is left of a round is posted as it is";
  EXPECT_EQ(one.worker->counters().posts, 3u);
  EXPECT_EQ(one.worker->counters().wrs, 40u);
  EXPECT_EQ(one.worker->counters().requests, 40u);
  EXPECT_EQ(one.worker->counters().cqes, 3u) << "the last of each chain";
  EXPECT_EQ(one.progress().completed, 40u);
}

TEST(Worker, PostsEachRequestAloneInABatchOfOne) {
  OneWorker<> one({.batch = 1, .signalled = Signalled::kEach});
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_EQ(one.lane().put(put_at(i)).status, Status::kOk);
  one.rounds();
  EXPECT_THAT(one.qp().chains, ElementsAre(1, 1, 1, 1, 1));
}

TEST(Worker, EachRequestOfAChainAsksForItsCqeWhenToldTo) {
  OneWorker<> one({.batch = 8, .signalled = Signalled::kEach});
  for (std::uint64_t i = 0; i < 8; ++i) ASSERT_EQ(one.lane().put(put_at(i)).status, Status::kOk);
  one.qp().hold = true;
  one.rounds();
  one.qp().work(3);
  one.rounds();
  EXPECT_EQ(one.progress().completed, 3u);
  EXPECT_EQ(one.worker->counters().cqes, 3u);
}

TEST(Worker, GathersAChainFromAllItsRings) {
  OneWorker<> one({.batch = 16}, {.rings = 4});
  for (std::uint64_t i = 0; i < 12; ++i) ASSERT_EQ(one.lane(i % 4).put(put_at(i)).status, Status::kOk);
  one.rounds(1);
  EXPECT_THAT(one.qp().chains, ElementsAre(12));
}

TEST(Worker, HasAChainForEachConnection) {
  OneWorker<> one({.batch = 16}, {.connections = 2});
  for (std::uint64_t i = 0; i < 12; ++i) {
    ASSERT_EQ(one.lane().put(put_at(i, static_cast<std::uint32_t>(i % 3 == 0))).status, Status::kOk);
  }
  one.rounds(1);
  EXPECT_THAT(one.qp(0).chains, ElementsAre(8));
  EXPECT_THAT(one.qp(1).chains, ElementsAre(4));
}

TEST(Worker, ASignalIsAFetchAddBehindItsPayloadInTheSameChain) {
  OneWorker<> one({.batch = 4});
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(one.lane().put_signal(put_at(i), 5).status, Status::kOk);
  one.qp().hold = true;
  one.rounds();
  EXPECT_THAT(one.qp().chains, ElementsAre(8));
  for (std::uint64_t i = 0; i < 4; ++i) {
    one.qp().work(1);
    EXPECT_TRUE(one.arrived(i * 8, 8));
    EXPECT_EQ(one.signals[5], i);
    one.qp().work(1);
    EXPECT_EQ(one.signals[5], i + 1);
  }
  one.rounds();
  EXPECT_EQ(one.progress().completed, 4u);
  one.signals[5] = 0;
  EXPECT_THAT(one.signals, Each(0u));
}

TEST(Worker, CompletesARingInItsOrderWhicheverConnectionIsFaster) {
  OneWorker<> one({}, {.connections = 2});
  ASSERT_EQ(one.lane().put(put_at(0, 0)).status, Status::kOk);
  ASSERT_EQ(one.lane().put(put_at(1, 1)).status, Status::kOk);
  ASSERT_EQ(one.lane().put(put_at(2, 0)).status, Status::kOk);
  one.qp(0).hold = true;
  one.rounds();
  EXPECT_TRUE(one.arrived(8, 8));
  EXPECT_EQ(one.progress().completed, 0u);
  one.qp(0).work(1);
  one.rounds();
  EXPECT_EQ(one.progress().completed, 2u);
  one.qp(0).work();
  one.rounds();
  EXPECT_EQ(one.progress().completed, 3u);
}

/// Puts on both connections, then a flush: what it waits for.
class Flush : public ::testing::TestWithParam<FlushScope> {
 protected:
  Flush() : one({}, {.rings = 2, .connections = 3}) {
    for (std::uint32_t c = 0; c < 3; ++c) one.qp(c).hold = true;
    EXPECT_EQ(one.lane(0).put(put_at(0, 0)).status, Status::kOk);
    EXPECT_EQ(one.lane(0).put(put_at(1, 1)).status, Status::kOk);
    EXPECT_EQ(one.lane(0).put(put_at(2, 2)).status, Status::kOk);
    one.rounds(1);
    EXPECT_EQ(one.lane(1).flush(1, GetParam()).status, Status::kOk);
    one.rounds(1);
    EXPECT_EQ(one.lane(0).put(put_at(3, 1)).status, Status::kOk);  // behind the flush: not its business
    one.rounds(1);
  }
  bool is_complete_after(std::initializer_list<std::uint32_t> connections) {
    for (const auto c : connections) one.qp(c).work(1);
    one.rounds(2);
    return one.progress(1).completed == 1;
  }
  OneWorker<> one;
};
using FlushRing = Flush;
using FlushConnection = Flush;
using FlushAllPeers = Flush;
INSTANTIATE_TEST_SUITE_P(, FlushRing, ::testing::Values(FlushScope::kRing));
INSTANTIATE_TEST_SUITE_P(, FlushConnection, ::testing::Values(FlushScope::kConnection));
INSTANTIATE_TEST_SUITE_P(, FlushAllPeers, ::testing::Values(FlushScope::kAllPeers));

TEST_P(FlushRing, WaitsForItsOwnRingAlone) {
  EXPECT_TRUE(is_complete_after({}));
}
TEST_P(FlushConnection, WaitsForItsConnection) {
  EXPECT_FALSE(is_complete_after({0, 2}));
  EXPECT_TRUE(is_complete_after({1}));
}
TEST_P(FlushAllPeers, WaitsForAllConnections) {
  EXPECT_FALSE(is_complete_after({}));
  EXPECT_FALSE(is_complete_after({0, 1}));
  EXPECT_TRUE(is_complete_after({2}));
}

TEST(Worker, GivesSlotsBackWhenItWasToldTo) {
  const auto freed_when = [](SlotFree when) {
    OneWorker<> one({.slot_free_when = when, .signalled = Signalled::kEach}, {.depth = 8});
    one.qp().hold = true;
    std::vector<std::uint64_t> freed;
    for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(one.lane().put(put_at(i)).status, Status::kOk);
    one.rounds(1);
    freed.push_back(one.freed());
    one.qp().work(2);
    one.rounds(2);
    freed.push_back(one.freed());
    return freed;
  };
  EXPECT_THAT(freed_when(SlotFree::kRead), ElementsAre(4, 4));
  EXPECT_THAT(freed_when(SlotFree::kHandled), ElementsAre(4, 4));
  EXPECT_THAT(freed_when(SlotFree::kCompleted), ElementsAre(0, 2));
}

TEST(Worker, ARequestWithoutRoomKeepsItsSlotUntilItIsHandled) {
  for (const auto when : {SlotFree::kRead, SlotFree::kHandled}) {
    OneWorker<> one({.send_depth = 2, .slot_free_when = when});
    one.qp().hold = true;
    for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(one.lane().put(put_at(i)).status, Status::kOk);
    one.rounds();
    EXPECT_EQ(one.freed(), when == SlotFree::kRead ? 3u : 2u);
  }
}

TEST(Worker, AFullQueuePairHoldsTheRingUpAndLosesNothing) {
  OneWorker<> one({.batch = 2, .send_depth = 4}, {.rings = 2, .connections = 2});
  one.qp(0).hold = true;
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_EQ(one.lane(0).put(put_at(i, 0)).status, Status::kOk);
  ASSERT_EQ(one.lane(1).put(put_at(30, 1)).status, Status::kOk);
  one.rounds(10);
  EXPECT_EQ(one.qp(0).waiting.size(), 4u);
  EXPECT_GT(one.worker->counters().credit_stalls, 5u);
  EXPECT_EQ(one.progress(1).completed, 1u) << "the other ring goes its way";
  one.qp(0).hold = false;
  one.qp(0).work();
  one.rounds(20);
  EXPECT_EQ(one.progress(0).completed, 20u);
  EXPECT_EQ(one.qp(0).done, 20u) << "each once";
  EXPECT_TRUE(one.arrived(0, 160));
}

TEST(Worker, RingsTakeTurnsWhereRoomIsScarce) {
  OneWorker<> one({.batch = 4, .take_per_visit = 4, .send_depth = 8}, {.rings = 3});
  for (std::uint64_t i = 0; i < 60; ++i) ASSERT_EQ(one.lane(i % 3).put(put_at(i)).status, Status::kOk);
  one.qp().hold = true;
  for (int turn = 0; turn < 10; ++turn) {  // 40 of 60
    one.rounds(1);
    one.qp().work(4);
  }
  one.rounds(1);
  for (std::size_t ring = 0; ring < 3; ++ring) EXPECT_GE(one.progress(ring).completed, 8u) << ring;
}

TEST(Worker, HasNoMoreOfARingInFlightThanItMay) {
  OneWorker<> one({.in_flight = 8});
  one.qp().hold = true;
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_EQ(one.lane().put(put_at(i)).status, Status::kOk);
  one.rounds(10);
  EXPECT_EQ(one.qp().waiting.size(), 8u);
  one.qp().work(3);
  one.rounds(3);
  EXPECT_EQ(one.qp().waiting.size(), 8u);
  one.qp().hold = false;
  one.qp().work();
  one.rounds(10);
  EXPECT_EQ(one.progress().completed, 20u);
}

TEST(Worker, TakesNoMoreAVisitThanItMay) {
  OneWorker<> one({.take_per_visit = 3}, {.rings = 2});
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_EQ(one.lane(0).put(put_at(i)).status, Status::kOk);
  one.rounds(1);
  EXPECT_EQ(one.worker->counters().requests, 3u);
  EXPECT_EQ(one.worker->counters().visits, 2u);
  EXPECT_EQ(one.worker->counters().empty_visits, 1u);
}

TEST(Worker, ARingThatComesFirstIsLookedAtBetweenAnyTwoOthersAndPostedAtOnce) {
  OneWorker<> one({.batch = 16}, {.rings = 4, .firsts = {2}});
  for (const std::size_t ring : {0, 1, 2, 3}) ASSERT_EQ(one.lane(ring).put(put_at(ring)).status, Status::kOk);
  one.rounds(1);
  EXPECT_EQ(one.worker->counters().visits, 6u) << "three rings, and the first one before each";
  EXPECT_THAT(one.qp().chains, ElementsAre(1, 3)) << "it waits for nobody's chain";
}

TEST(Worker, SharesARingAmongProducers) {
  OneWorker<SharedTuned> one;
  Producer<SharedTuned> second(one.memories[0]->ring());
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_EQ((i % 2 ? second : one.lane()).put(put_at(i)).end, i + 1);
  one.rounds();
  EXPECT_EQ(one.progress().completed, 10u);
  EXPECT_TRUE(one.arrived(0, 80));
}

}  // namespace
}  // namespace marrow::proxy::testing
