// SPDX-License-Identifier: Apache-2.0
// A shared queue as its lanes see it, one thread playing several: slots, turns, who rings, room, errors, wraps.
#include "marrow/gda/shared_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "gda/fake_nic.h"
#include "gda/tested.h"
#include "marrow/gda/dump.h"
#include "marrow/gda/queue_set.h"

namespace marrow::gda {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using ByReady = Shared<GpuFence, Turn::kReadyIndex>;
using BySwap = Shared<GpuFence, Turn::kCompareSwap>;
using InTurn = Shared<GpuFence, Turn::kReadyIndex, PostLock::kTurn>;
using UnderLock = Locked<GpuFence>;

template <class P>
class SharedQueues : public testing::Test {};
using AllWays = testing::Types<ByReady, BySwap, InTurn, UnderLock, InBlock<BySwap>, Shared<Threadfence>,
                               Shared<SystemReleaseStore>, Shared<NoOrder>, OwnEntry<BySwap>>;
TYPED_TEST_SUITE(SharedQueues, AllWays);

template <class P>
constexpr CqLayout kLayout = P::completion.find == FindCqe::kEntry ? CqLayout::kRing : CqLayout::kCollapsed;

TYPED_TEST(SharedQueues, MoreThanTheRingHoldsIsRefused) {
  FakeNic nic({.sq_wqebbs = 8, .layout = kLayout<TypeParam>});
  SendQueue<Tested<TypeParam>> sq{nic.qp()};
  EXPECT_EQ(sq.reserve(kSolo, 9).status, Status::kBadRequest);
  EXPECT_EQ(sq.reserve(kSolo, 0).status, Status::kBadRequest);
  EXPECT_EQ(sq.reserve(kSolo, Room{1u << 31, 1u << 31}).status, Status::kBadRequest);
  EXPECT_EQ(nic.counters().shared.reserved, 0u) << "nothing was taken";
}

TYPED_TEST(SharedQueues, SubmittedTwiceIsRefused) {
  FakeNic nic({.layout = kLayout<TypeParam>});
  std::uint64_t to = 0;
  SendQueue<Tested<TypeParam>> sq{nic.qp()};
  const auto slots = sq.reserve(kSolo, 1);
  sq.write_value(slots[0], nic.remote(to), 1);
  EXPECT_EQ(sq.submit(kSolo, slots).status, Status::kOk);
  EXPECT_EQ(sq.submit(kSolo, slots).status, Status::kBadRequest);
}

TYPED_TEST(SharedQueues, ABadWqeIsItsOwnLanesError) {
  FakeNic nic({.layout = kLayout<TypeParam>});
  std::uint64_t to = 0;
  SendQueue<Tested<TypeParam>> bad{nic.qp()};
  SendQueue<Tested<TypeParam>> good{nic.qp()};
  const auto slots = bad.reserve(kSolo, 1);
  bad.write_inline(slots[0], nic.remote(to), nullptr, 29);
  const auto refused = bad.submit(kSolo, slots);
  const auto ticket = post(nic, good, to, 5);
  nic.step();
  EXPECT_EQ(bad.wait(kSolo, refused).status, Status::kBadRequest);
  EXPECT_TRUE(good.wait(kSolo, ticket).ok());
  EXPECT_EQ(nic.nops(), 1u);
  EXPECT_EQ(to, 5u);
}

// More than 2 x 65,536 operations from just below the wrap of the 16-bit index, two lanes in turn, every byte checked.
template <class P>
void go_round(const FakeNic::Options& options) {
  FakeNic nic(options);
  SendQueue<Tested<P>> lanes[2]{SendQueue<Tested<P>>{nic.qp()}, SendQueue<Tested<P>>{nic.qp()}};
  std::uint64_t to[16];
  std::uint64_t value = 1;
  for (std::uint32_t posted = 0, round = 0; posted < 2 * 65'536 + 1000; ++round) {
    auto& sq = lanes[round % 2];
    const std::uint32_t wqes = (posted % 7 + 1) % options.sq_wqebbs + 1;
    const auto slots = sq.reserve(kSolo, wqes);
    ASSERT_TRUE(slots.ok()) << format_dump(sq.dump());
    for (std::uint32_t i = 0; i < wqes; ++i) sq.write_value(slots[i], nic.remote(to[i]), value + i);
    const auto ticket = sq.submit(kSolo, slots);
    ASSERT_EQ(nic.step(), wqes);
    if (posted % 3 == 0) {
      ASSERT_TRUE(sq.wait(kSolo, ticket).ok());
    }
    for (std::uint32_t i = 0; i < wqes; ++i) ASSERT_EQ(to[i], value + i);
    value += wqes;
    posted += wqes;
  }
  ASSERT_TRUE(lanes[0].drain(kSolo).ok());
  EXPECT_THAT(nic.complaints(), IsEmpty());
  const auto& s = nic.counters().shared;
  EXPECT_EQ(s.reserved, s.ready);
  EXPECT_EQ(s.ci, s.ready);
}

TYPED_TEST(SharedQueues, The16BitIndexWrapsTwice) {
  go_round<TypeParam>({.sq_wqebbs = 8, .layout = kLayout<TypeParam>, .start = 65'536 - 3});
  go_round<TypeParam>({.sq_wqebbs = 64, .layout = kLayout<TypeParam>, .start = (1ull << 32) - 5});
}
TYPED_TEST(SharedQueues, TheRingCqWrapsToo) {
  go_round<TypeParam>({.sq_wqebbs = 8, .layout = CqLayout::kRing, .start = 65'530});
}

TYPED_TEST(SharedQueues, AFullRingTimesOutAndGivesItsSlotsBack) {
  FakeNic nic({.sq_wqebbs = 4, .layout = kLayout<TypeParam>, .timeout_ns = 2'000'000});
  std::uint64_t to = 0;
  SendQueue<Tested<TypeParam>> sq{nic.qp()};
  const auto ticket = post(nic, sq, to, 1, 4);
  const auto late = sq.reserve(kSolo, 1);
  EXPECT_EQ(late.status, Status::kTimeout);
  sq.write_value(late[0], nic.remote(to), 99);
  EXPECT_EQ(sq.submit(kSolo, late).status, Status::kTimeout);
  nic.step();
  EXPECT_TRUE(sq.wait(kSolo, ticket).ok());
  EXPECT_EQ(to, 1u);
  EXPECT_TRUE(sq.reserve(kSolo, 4).ok()) << "a time-out for room is not for ever";
  EXPECT_THAT(nic.complaints(), IsEmpty());
}

TYPED_TEST(SharedQueues, AllWaitersGetTheFirstError) {
  FakeNic nic({.layout = kLayout<TypeParam>, .start = 65'535});
  std::uint64_t to = 0;
  SendQueue<Tested<TypeParam>> a{nic.qp()};
  SendQueue<Tested<TypeParam>> b{nic.qp()};
  nic.fail_at(65'536, 0x13, 0x88);
  const auto good = post(nic, a, to, 1);
  const auto bad = post(nic, b, to, 2);
  const auto flushed = post(nic, a, to, 3);
  nic.step(2);
  const auto first = b.wait(kSolo, bad);
  EXPECT_EQ(first.status, Status::kRemoteAccess);
  EXPECT_EQ(first.vendor, 0x88);
  nic.step();
  EXPECT_EQ(a.wait(kSolo, flushed).status, Status::kRemoteAccess)
      << "the cause, not the flush, though another's WQE failed";
  EXPECT_TRUE(a.wait(kSolo, good).ok()) << "what completed before the failure stays completed";
  SendQueue<Tested<TypeParam>> next{nic.qp()};
  EXPECT_EQ(next.drain(kSolo).status, Status::kRemoteAccess) << "for the next kernel as well";
  EXPECT_THAT(format_dump(next.dump()), HasSubstr("first error: remote access (syndrome 0x13, vendor 0x88, WQEBB 0)"));
}

TYPED_TEST(SharedQueues, NoCqeIsATimeOutWithADump) {
  FakeNic nic({.layout = kLayout<TypeParam>, .start = 65'530, .timeout_ns = 1'000'000});
  std::uint64_t to = 0;
  SendQueue<Tested<TypeParam>> sq{nic.qp()};
  const auto first = post(nic, sq, to, 1);
  nic.step();
  ASSERT_TRUE(sq.wait(kSolo, first).ok());
  nic.drop_cqes();
  const auto lost = post(nic, sq, to, 2, 8);
  nic.step();
  EXPECT_EQ(sq.wait(kSolo, lost).status, Status::kTimeout);
  const auto text = format_dump(sq.dump());
  EXPECT_THAT(text, HasSubstr("qp 0x1abcd: pi 65539, ci 65531, reserved 65539, ring 64 WQEBBs"));
  EXPECT_THAT(text, HasSubstr("dbrec: 3 (is pi)"));
}

TYPED_TEST(SharedQueues, ExclusiveUseContinuesWhereSharingEnded) {
  FakeNic nic({.sq_wqebbs = 8, .layout = kLayout<TypeParam>, .start = 65'530});
  std::uint64_t to = 0;
  for (std::uint64_t kernel = 1; kernel <= 20; ++kernel) {
    begin_sharing(nic.counters());
    {
      SendQueue<Tested<TypeParam>> sq{nic.qp()};
      const auto ticket = post(nic, sq, to, kernel, 2);
      nic.step();
      ASSERT_TRUE(sq.wait(kSolo, ticket).ok());
    }
    end_sharing(nic.counters(), TypeParam::completion.find);
    SendQueue<Tested<SignalEvery<GpuFence>>> alone{nic.qp()};
    const auto ticket = post(nic, alone, to, ~kernel);
    nic.step();
    ASSERT_TRUE(alone.wait(kSolo, ticket).ok());
    ASSERT_EQ(to, ~kernel);
  }
  EXPECT_EQ(nic.counters().pi, 65'530u + 60);
  EXPECT_THAT(nic.complaints(), IsEmpty());
}

// --- turns and locks ------------------------------------------------------------------------------------------------

TEST(Turns, ASlotThatIsNeverSubmittedEndsTheQueueInTime) {
  FakeNic nic({.timeout_ns = 2'000'000});
  std::uint64_t to = 0;
  SendQueue<Tested<BySwap>> lost{nic.qp()};
  SendQueue<Tested<BySwap>> sq{nic.qp()};
  EXPECT_TRUE(lost.reserve(kSolo, 1).ok());
  const auto ticket = post(nic, sq, to, 1);
  EXPECT_EQ(ticket.status, Status::kTimeout);
  EXPECT_EQ(sq.wait(kSolo, ticket).status, Status::kTimeout);
  EXPECT_EQ(nic.step(), 0u) << "nothing behind the hole was announced";
  EXPECT_EQ(post(nic, sq, to, 1).status, Status::kTimeout) << "and nobody waits for the full time again";
}

TEST(Turns, OneReservationATeamUnderTheLock) {
  FakeNic nic({.timeout_ns = 2'000'000});
  std::uint64_t to = 0;
  SendQueue<Tested<UnderLock>> first{nic.qp()};
  SendQueue<Tested<UnderLock>> second{nic.qp()};
  const auto slots = first.reserve(kSolo, 1);
  EXPECT_EQ(first.reserve(kSolo, 1).status, Status::kBadRequest) << "it would wait for itself";
  EXPECT_EQ(second.reserve(kSolo, 1).status, Status::kTimeout);
  first.write_value(slots[0], nic.remote(to), 1);
  static_cast<void>(first.submit(kSolo, slots));
  EXPECT_TRUE(second.reserve(kSolo, 1).ok());
}

// --- who rings ------------------------------------------------------------------------------------------------------

TEST(Rings, ALaterPostersRingCoversEarlierOnes) {
  FakeNic nic;
  std::uint64_t to = 0;
  using Deferred = Batch<BySwap, 4, PostWhen::kBoundary>;
  SendQueue<Tested<Deferred>, CountingProbe> sq{nic.qp()};
  Ticket last;
  for (std::uint64_t i = 1; i <= 11; ++i) last = post(nic, sq, to, i);
  EXPECT_EQ(sq.probe().counts.doorbells, 2u) << "at 4 and 8";
  EXPECT_EQ(nic.step(), 8u);
  sq.flush(kSolo);
  EXPECT_EQ(sq.probe().counts.doorbells, 3u);
  EXPECT_EQ(nic.step(), 3u);
  sq.flush(kSolo);
  EXPECT_EQ(sq.probe().counts.doorbells, 3u) << "nothing was left";
  EXPECT_TRUE(sq.wait(kSolo, last).ok());
  EXPECT_EQ(to, 11u);
}

TEST(Rings, WhatAnotherHasReservedBehindIsLeftToIt) {
  FakeNic nic;
  std::uint64_t to = 0;
  using Idle = Batch<BySwap, 32, PostWhen::kBoundaryOrIdle>;
  SendQueue<Tested<Idle>, CountingProbe> a{nic.qp()};
  SendQueue<Tested<Idle>, CountingProbe> b{nic.qp()};
  const auto of_a = a.reserve(kSolo, 1);
  const auto of_b = b.reserve(kSolo, 1);
  a.write_value(of_a[0], nic.remote(to), 1);
  b.write_value(of_b[0], nic.remote(to), 2);
  static_cast<void>(a.submit(kSolo, of_a));
  EXPECT_EQ(a.probe().counts.doorbells, 0u);
  const auto ticket = b.submit(kSolo, of_b);
  EXPECT_EQ(b.probe().counts.doorbells, 1u) << "nobody else is building";
  EXPECT_EQ(nic.step(), 2u);
  EXPECT_TRUE(b.wait(kSolo, ticket).ok());
}

template <class P>
void wait_rings() {
  FakeNic nic({.sq_wqebbs = 8, .timeout_ns = 1'000'000});
  std::uint64_t to = 0;
  SendQueue<Tested<P>> sq{nic.qp()};
  const auto slots = sq.reserve(kSolo, 1);
  sq.write_value(slots[0], nic.remote(to), 1);
  const auto ticket = sq.submit(kSolo, slots, More::kYes);
  EXPECT_EQ(nic.step(), 0u) << "put off";
  EXPECT_EQ(sq.wait(kSolo, ticket).status, Status::kTimeout);
  EXPECT_EQ(nic.step(), 1u) << "but not for good: the wait rang";
  EXPECT_TRUE(sq.wait(kSolo, ticket).ok());
}
TEST(Rings, TheWaitRingsForWhatWasPutOff) {
  wait_rings<Batch<BySwap, 0, PostWhen::kCaller>>();
  wait_rings<Batch<ByReady, 32, PostWhen::kBoundary>>();
  wait_rings<Batch<GpuFence, 0, PostWhen::kCaller>>();
  wait_rings<Batch<GpuFence, 32, PostWhen::kBoundary>>();
}

template <class P>
void room_rings() {
  FakeNic nic({.sq_wqebbs = 4, .timeout_ns = 1'000'000});
  std::uint64_t to = 0;
  SendQueue<Tested<P>> sq{nic.qp()};
  const auto slots = sq.reserve(kSolo, 4);
  for (std::uint32_t i = 0; i < 4; ++i) sq.write_value(slots[i], nic.remote(to), 1);
  static_cast<void>(sq.submit(kSolo, slots, More::kYes));
  EXPECT_EQ(sq.reserve(kSolo, 1).status, Status::kTimeout);
  EXPECT_EQ(nic.step(), 4u) << "a full ring was rung for";
  EXPECT_TRUE(sq.reserve(kSolo, 1).ok());
}
TEST(Rings, WaitingForRoomRingsToo) {
  room_rings<Batch<BySwap, 0, PostWhen::kCaller>>();
  room_rings<Batch<GpuFence, 0, PostWhen::kCaller>>();
}

// An exclusive queue's next object knows what the last one left unrung.
TEST(Rings, TheNextKernelRingsForTheLast) {
  FakeNic nic;
  std::uint64_t to = 0;
  using Deferred = Batch<GpuFence, 0, PostWhen::kCaller>;
  {
    SendQueue<Tested<Deferred>> sq{nic.qp()};
    const auto slots = sq.reserve(kSolo, 1);
    sq.write_value(slots[0], nic.remote(to), 1);
    static_cast<void>(sq.submit(kSolo, slots, More::kYes));
  }
  SendQueue<Tested<Deferred>> next{nic.qp()};
  next.flush(kSolo);
  EXPECT_EQ(nic.step(), 1u);
  EXPECT_TRUE(next.drain(kSolo).ok());
}

// Batches 1 to 256 on a shared queue: doorbells as on an exclusive one.
template <std::uint32_t N, class P>
void expect_doorbells(unsigned doorbells) {
  FakeNic nic({.sq_wqebbs = 256});
  std::uint64_t to = 0;
  SendQueue<Tested<Batch<P, N>>, CountingProbe> sq{nic.qp()};
  const auto ticket = post(nic, sq, to, 3, 256);
  EXPECT_EQ(nic.step(), 256u);
  EXPECT_TRUE(sq.wait(kSolo, ticket).ok());
  EXPECT_EQ(sq.probe().counts.doorbells, doorbells);
  EXPECT_THAT(nic.complaints(), IsEmpty());
}
TEST(Rings, BatchesDivideASubmit) {
  expect_doorbells<1, BySwap>(256);
  expect_doorbells<5, BySwap>(52);
  expect_doorbells<32, InTurn>(8);
  expect_doorbells<256, ByReady>(1);
  expect_doorbells<16, UnderLock>(16);
  expect_doorbells<0, BySwap>(1);
}

// --- credit ---------------------------------------------------------------------------------------------------------

template <class P>
void expect_full() {
  FakeNic nic({.sq_wqebbs = 4, .timeout_ns = 60'000'000'000});
  std::uint64_t to = 0;
  SendQueue<Tested<P>> sq{nic.qp()};
  const auto ticket = post(nic, sq, to, 1, 3);
  EXPECT_EQ(sq.reserve(kSolo, 2).status, Status::kQueueFull);
  EXPECT_TRUE(post(nic, sq, to, 2).status == Status::kOk) << "what fits, fits";
  nic.step();
  EXPECT_TRUE(sq.reserve(kSolo, 4).ok());
  EXPECT_TRUE(sq.wait(kSolo, ticket).ok());
}
TEST(Credits, TryIsFullAtOnceAndTakesNothing) {
  expect_full<Credited<BySwap, Credit::kTry>>();
  expect_full<Credited<UnderLock, Credit::kTry>>();
  expect_full<Credited<GpuFence, Credit::kTry>>();
}

// Nobody looks at the CQ for more than a whole turn of the counter; the last wait still finds the right index.
template <class P>
void unchecked(std::uint64_t start) {
  FakeNic nic({.sq_wqebbs = 16, .start = start, .timeout_ns = 1'000'000});
  std::uint64_t to = 0;
  SendQueue<Tested<P>> sq{nic.qp()};
  Ticket last;
  for (std::uint64_t i = 0; i < 150'000 / 8; ++i) {
    last = post(nic, sq, to, i, 8);
    nic.step();
  }
  ASSERT_TRUE(sq.wait(kSolo, last).ok());
  const auto pending = post(nic, sq, to, 7, 8);
  EXPECT_EQ(sq.wait(kSolo, pending).status, Status::kTimeout) << "the old CQE is no completion";
  nic.step();
  EXPECT_TRUE(sq.wait(kSolo, pending).ok());
  EXPECT_THAT(nic.complaints(), IsEmpty());
}
TEST(Credits, NoneTrustsTheCallerForWholeTurns) {
  for (const std::uint64_t start : {0ull, 65'533ull}) {
    unchecked<Credited<BySwap, Credit::kNone>>(start);
    unchecked<Credited<UnderLock, Credit::kNone>>(start);
    unchecked<Credited<GpuFence, Credit::kNone>>(start);
  }
}

TEST(Credits, SparseSignalsGiveRoomBack) {
  FakeNic nic({.sq_wqebbs = 16});
  std::uint64_t to = 0;
  SendQueue<Tested<SignalSparse<BySwap>>> sq{nic.qp()};
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(post(nic, sq, to, i, 3).status, Status::kOk) << i;
    nic.step();
  }
  EXPECT_LT(nic.cqes_written(), 3000u / 7) << "about one for each half of the ring";
  const auto slots = sq.reserve(kSolo, 1).asking();
  sq.write_value(slots[0], nic.remote(to), 42);
  const auto ticket = sq.submit(kSolo, slots);
  nic.step();
  EXPECT_TRUE(sq.wait(kSolo, ticket).ok()) << "a WQE that asks is answered";
}

// --- sets of queues -------------------------------------------------------------------------------------------------

TEST(Quiet, OneAFewOrAllQueues) {
  FakeNic nics[3] = {FakeNic({.timeout_ns = 1'000'000}), FakeNic({.timeout_ns = 1'000'000}),
                     FakeNic({.timeout_ns = 1'000'000})};
  const Qp qps[3] = {nics[0].qp(), nics[1].qp(), nics[2].qp()};
  const QueueSet set{qps, 3};
  std::uint64_t to = 0;
  {
    SendQueue<Tested<BySwap>> a{qps[0]};
    SendQueue<Tested<BySwap>> c{qps[2]};
    static_cast<void>(post(nics[0], a, to, 1));
    static_cast<void>(post(nics[2], c, to, 1));
  }
  using Everything = QuietAll<BySwap>;
  nics[0].step();
  EXPECT_TRUE(quiet<BySwap>(kSolo, set, 0).ok()) << "the used queue is done";
  EXPECT_TRUE(quiet_all<BySwap>(kSolo, set.from(0, 2)).ok()) << "and an unused one is quiet";
  EXPECT_EQ(quiet<Everything>(kSolo, set, 0).status, Status::kTimeout) << "queue 2 is not";
  nics[2].step();
  EXPECT_TRUE(quiet<Everything>(kSolo, set, 0).ok());
}

TEST(Quiet, ExclusiveQueuesThatNobodyHolds) {
  FakeNic nic;
  std::uint64_t to = 0;
  const Qp qp = nic.qp();
  {
    SendQueue<Tested<GpuFence>> sq{qp};
    static_cast<void>(post(nic, sq, to, 1, 5));
  }
  nic.step();
  EXPECT_TRUE(quiet_all<GpuFence>(kSolo, {&qp, 1}).ok());
  EXPECT_EQ(nic.counters().ci, 5u);
}

TEST(Quiet, QueuesArePickedAsThePolicySays) {
  std::uint64_t turn = 0;
  const QueueSet set{nullptr, 3, &turn};
  EXPECT_EQ(pick<GpuFence>(set, 7), 1u);
  using Robin = Mapped<GpuFence, QueueMap::kRoundRobin>;
  for (std::uint32_t i = 0; i < 7; ++i) EXPECT_EQ(pick<Robin>(set, 0), i % 3);
  EXPECT_EQ((pick<Mapped<GpuFence, QueueMap::kBlock>>(set, 2)), 0u);
}

}  // namespace
}  // namespace marrow::gda
