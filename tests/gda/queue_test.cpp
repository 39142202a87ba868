// SPDX-License-Identifier: Apache-2.0
// Room, wraps and refusals of the send queue, on a NIC that looks when told to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <type_traits>

#include "gda/fake_nic.h"
#include "gda/tested.h"
#include "marrow/gda/send_queue.h"

namespace marrow::gda {
namespace {

using testing::IsEmpty;

// --- refusals -------------------------------------------------------------------------------------------------------

TEST(Refusals, MoreThanTheRingHolds) {
  FakeNic nic({.sq_wqebbs = 8});
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  EXPECT_EQ(sq.reserve(kSolo, 9).status, Status::kBadRequest);
  EXPECT_EQ(sq.reserve(kSolo, 0).status, Status::kBadRequest);
  EXPECT_EQ(sq.reserve(kSolo, Room{3, 3}).status, Status::kBadRequest);
  EXPECT_EQ(sq.reserve(kSolo, Room{1u << 31, 1u << 31}).status, Status::kBadRequest);
  EXPECT_EQ(sq.reserve(kSolo, 8).status, Status::kOk);
}

// Waiting could not help: the NIC has not been told of what fills the ring.
TEST(Refusals, ARingFullOfUnsubmittedSlotsIsFullAtOnce) {
  FakeNic nic({.sq_wqebbs = 8, .timeout_ns = 60'000'000'000});
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  EXPECT_TRUE(sq.reserve(kSolo, 5).ok());
  EXPECT_EQ(sq.reserve(kSolo, 4).status, Status::kQueueFull);
  EXPECT_TRUE(sq.reserve(kSolo, 3).ok());
}

TEST(Refusals, AFullRingTimesOutWhenTheNicSleeps) {
  FakeNic nic({.sq_wqebbs = 4});
  std::uint64_t to[4] = {};
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  const auto slots = sq.reserve(kSolo, 4);
  for (std::uint32_t i = 0; i < 4; ++i) sq.write_value(slots[i], nic.remote(to[i]), i);
  const auto ticket = sq.submit(kSolo, slots);
  const auto late = sq.reserve(kSolo, 1);
  EXPECT_EQ(late.status, Status::kTimeout);
  sq.write_value(late[0], nic.remote(to[0]), 99);  // stores nothing: all four WQEs are live
  EXPECT_EQ(sq.wait(kSolo, sq.submit(kSolo, late)).status, Status::kTimeout);
  nic.step();
  EXPECT_TRUE(sq.wait(kSolo, ticket).ok());
  EXPECT_EQ(to[0], 0u);
  EXPECT_EQ(to[3], 3u);
  EXPECT_TRUE(sq.reserve(kSolo, 4).ok()) << "a time-out is not for ever";
}

template <class Write>
void expect_refused(Write&& write, std::uint32_t wqebbs = 1) {
  FakeNic nic;
  std::array<std::byte, 512> to{};
  SendQueue<Tested<Inline<GpuFence, 156>>> sq{nic.qp()};
  const auto result = one(nic, sq, wqebbs, [&](const Slot& slot) { write(sq, slot, nic.remote(to)); });
  EXPECT_EQ(result.status, Status::kBadRequest);
  EXPECT_EQ(nic.nops(), 1u) << "the queue goes on";
  EXPECT_THAT(nic.complaints(), IsEmpty());
  EXPECT_EQ(to, (std::array<std::byte, 512>{}));
  EXPECT_EQ(sq.wait(kSolo, Ticket{}).status, Status::kBadRequest) << "and the refusal stays";
}

TEST(Refusals, AWqeThatCannotBeBuiltBecomesANopAndAnError) {
  static std::byte from[512];
  const Local local{reinterpret_cast<std::uint64_t>(from), FakeNic::kLkey};
  expect_refused([&](auto& sq, const Slot& s, Remote to) { sq.write_inline(s, to, from, 157); }, 4);  // policy's limit
  expect_refused([&](auto& sq, const Slot& s, Remote to) { sq.write_inline(s, to, from, 29); });      // slot too small
  expect_refused([&](auto& sq, const Slot& s, Remote to) { sq.write_inline(s, to, from, 28); }, 2);   // slot too big
  expect_refused([&](auto& sq, const Slot& s, Remote to) { sq.write_inline(s, to, from, ~0u); }, 1);
  expect_refused([&](auto& sq, const Slot& s, Remote to) { sq.read(s, {to, local, 1u << 31}); });
  expect_refused([&](auto& sq, const Slot& s, Remote to) { sq.read(s, {to, local, 8}); }, 2);
  expect_refused([&](auto& sq, const Slot& s, Remote to) { sq.fetch_add(s, {to, local, 8}); }, 2);
  expect_refused([&](auto& sq, const Slot& s, Remote to) { sq.write_value(s, to, 8); }, 2);
}

TEST(Refusals, InlineBeyondWhatTheQpWasMadeFor) {
  FakeNic nic({.max_inline_bytes = 28});
  std::array<std::byte, 64> to{};
  SendQueue<Tested<Inline<GpuFence, 220>>> sq{nic.qp()};
  const auto write = [&](const Slot& s) { sq.write_inline(s, nic.remote(to), to.data(), 64); };
  EXPECT_EQ(one(nic, sq, 2, write).status, Status::kBadRequest);
}

TEST(Refusals, ASlotBeyondTheReservationStoresNothing) {
  FakeNic nic;
  std::uint64_t to = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  const auto write = [&](const Slot& s) { sq.write_value(s, nic.remote(to), 1); };
  const auto slots = sq.reserve(kSolo, 1);
  write(slots[0]);
  write(slots[1]);
  const auto ticket = sq.submit(kSolo, slots);
  nic.step();
  EXPECT_EQ(sq.wait(kSolo, ticket).status, Status::kBadRequest);
  EXPECT_EQ(nic.pi(), 1u);
}

TEST(Refusals, SubmitOutOfOrderOrTwice) {
  FakeNic nic;
  std::uint64_t to = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  const auto first = sq.reserve(kSolo, 1);
  const auto second = sq.reserve(kSolo, 1);
  sq.write_value(first[0], nic.remote(to), 1);
  sq.write_value(second[0], nic.remote(to), 2);
  EXPECT_EQ(sq.submit(kSolo, second).status, Status::kBadRequest);
  EXPECT_EQ(sq.submit(kSolo, first).status, Status::kOk);
  EXPECT_EQ(sq.submit(kSolo, first).status, Status::kBadRequest);
  const auto ticket = sq.submit(kSolo, second);
  nic.step();
  EXPECT_TRUE(sq.wait(kSolo, ticket).ok());
  EXPECT_EQ(to, 2u);
}

// --- operations -----------------------------------------------------------------------------------------------------

TEST(Operations, ReadBringsThePeersBytes) {
  FakeNic nic;
  std::uint64_t there = 0x1122334455667788;
  std::uint64_t here = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  const auto read = [&](const Slot& s) { sq.read(s, {.from = nic.remote(there), .to = nic.local(here), .bytes = 8}); };
  EXPECT_TRUE(one(nic, sq, 1, read).ok());
  EXPECT_EQ(here, there);
}

TEST(Operations, AtomicsBringTheOldValue) {
  FakeNic nic;
  std::uint64_t there = 40;
  std::uint64_t old = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  const auto add = [&](const Slot& s) { sq.fetch_add(s, {nic.remote(there), nic.local(old), 2}); };
  EXPECT_TRUE(one(nic, sq, 1, add).ok());
  EXPECT_EQ(there, 42u);
  EXPECT_EQ(old, 40u);
  const auto swap = [&](const Slot& s) {
    sq.compare_swap(s, {.at = nic.remote(there), .result = nic.local(old), .compare = 42, .swap = 7});
  };
  EXPECT_TRUE(one(nic, sq, 1, swap).ok());
  EXPECT_EQ(there, 7u);
  EXPECT_TRUE(one(nic, sq, 1, swap).ok());
  EXPECT_EQ(there, 7u) << "the second compare fails";
  EXPECT_EQ(old, 7u);
}

// A byte count of 0 would mean 2 GiB: a write of nothing must not carry a data segment.
TEST(Operations, AWriteOfNothingHasNoDataSegment) {
  FakeNic nic;
  std::uint64_t to = 5;
  SendQueue<Tested<Pointer<GpuFence>>, CountingProbe> sq{nic.qp()};
  const auto write = [&](const Slot& s) { sq.write(s, {.to = nic.remote(to), .from = nic.local(to), .bytes = 0}); };
  EXPECT_TRUE(one(nic, sq, 1, write).ok());
  EXPECT_EQ(sq.probe().counts.wqe_stores, 2u);
  EXPECT_EQ(to, 5u);
}

TEST(Operations, InlinePayloadNeedsNoAlignment) {
  std::byte raw[64];
  for (int i = 0; i < 64; ++i) raw[i] = static_cast<std::byte>(i + 1);
  for (std::uint32_t shift = 0; shift < 4; ++shift) {
    for (std::uint32_t bytes = 0; bytes <= 28; ++bytes) {
      FakeNic nic;
      std::array<std::byte, 40> to{};
      SendQueue<Tested<GpuFence>> sq{nic.qp()};
      const auto write = [&](const Slot& s) { sq.write_inline(s, nic.remote(to), raw + shift, bytes); };
      ASSERT_TRUE(one(nic, sq, 1, write).ok());
      ASSERT_EQ(std::memcmp(to.data(), raw + shift, bytes), 0);
      ASSERT_EQ(to[bytes], std::byte{}) << "not one byte more";
    }
  }
}

// --- wraps ----------------------------------------------------------------------------------------------------------

/// More than 2 x 65,536 operations from `start`, a few at a time, every byte checked.
void go_round(CqLayout layout, std::uint64_t start, std::uint32_t ring) {
  FakeNic nic({.sq_wqebbs = ring, .layout = layout, .start = start});
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  std::uint64_t to[16];
  std::uint64_t value = 1;
  for (std::uint32_t posted = 0; posted < 2 * 65'536 + 1000;) {
    const auto wqes = static_cast<std::uint32_t>(posted % 7 + 1) % ring + 1;
    const auto slots = sq.reserve(kSolo, wqes);
    ASSERT_TRUE(slots.ok());
    for (std::uint32_t i = 0; i < wqes; ++i) sq.write_value(slots[i], nic.remote(to[i]), value + i);
    const auto ticket = sq.submit(kSolo, slots);
    ASSERT_EQ(nic.step(), wqes);
    if (posted % 3 == 0) {  // else the next reserve finds the room
      ASSERT_TRUE(sq.wait(kSolo, ticket).ok());
    }
    for (std::uint32_t i = 0; i < wqes; ++i) ASSERT_EQ(to[i], value + i);
    value += wqes;
    posted += wqes;
  }
  ASSERT_TRUE(sq.drain(kSolo).ok());
  EXPECT_THAT(nic.complaints(), IsEmpty());
}

TEST(Wraps, The16BitIndexWrapsTwiceOnACollapsedCq) {
  go_round(CqLayout::kCollapsed, 65'536 - 3, 8);
  go_round(CqLayout::kCollapsed, (1ull << 32) - 5, 64);
}
TEST(Wraps, The16BitIndexWrapsTwiceOnARingCq) {
  go_round(CqLayout::kRing, 65'536 - 3, 8);
  go_round(CqLayout::kRing, 0, 64);
}

// The largest ring: 2^15 WQEBBs in flight, counter and index exactly half a turn apart.
TEST(Wraps, AFullRingOf32768IsStillUnambiguous) {
  for (const std::uint64_t start : {0ull, 40'000ull, 65'535ull}) {
    FakeNic nic({.sq_wqebbs = 32'768, .start = start});
    SendQueue<Tested<GpuFence>> sq{nic.qp()};
    std::uint64_t to = 0;
    for (std::uint32_t lap = 0; lap < 5; ++lap) {
      const auto slots = sq.reserve(kSolo, 32'768);
      ASSERT_TRUE(slots.ok());
      for (std::uint32_t i = 0; i < 32'768; ++i) sq.write_value(slots[i], nic.remote(to), i);
      const auto ticket = sq.submit(kSolo, slots);
      ASSERT_EQ(nic.step(), 32'768u);
      ASSERT_TRUE(sq.wait(kSolo, ticket).ok());
    }
    EXPECT_THAT(nic.complaints(), IsEmpty());
  }
}

// WQEs of 1 to 4 WQEBBs in a ring of 8: each size crosses the end of the ring at each block, and room comes back
// exactly (a ring that lost count of one WQEBB would block).
TEST(Wraps, LongInlineWqesCrossTheEndOfTheRing) {
  FakeNic nic({.sq_wqebbs = 8, .start = 65'536 - 20});
  SendQueue<Tested<Inline<GpuFence, 220>>> sq{nic.qp()};
  std::array<std::byte, 220> from;
  for (std::uint32_t round = 0; round < 4000; ++round) {
    const std::uint32_t bytes = round * 37 % 221;
    for (std::uint32_t i = 0; i < bytes; ++i) from[i] = static_cast<std::byte>(round + i);
    std::array<std::byte, 221> to{};
    const auto slots = sq.reserve(kSolo, Room{1, inline_write_wqebbs(bytes)});
    ASSERT_TRUE(slots.ok()) << round;
    sq.write_inline(slots[0], nic.remote(to), from.data(), bytes);
    const auto ticket = sq.submit(kSolo, slots);
    nic.step();
    if (round % 5 == 0) {
      ASSERT_TRUE(sq.wait(kSolo, ticket).ok());
    }
    ASSERT_EQ(std::memcmp(to.data(), from.data(), bytes), 0);
    ASSERT_EQ(to[bytes], std::byte{});
  }
  ASSERT_TRUE(sq.drain(kSolo).ok());
  ASSERT_TRUE(sq.reserve(kSolo, 8).ok()) << "all of the ring is free again";
  EXPECT_THAT(nic.complaints(), IsEmpty());
}

// The CQE names the first WQEBB only: a WQE of four in a ring of four must give back all four.
TEST(Wraps, OneWqeCanFillTheRing) {
  FakeNic nic({.sq_wqebbs = 4});
  SendQueue<Tested<Inline<GpuFence, 220>>> sq{nic.qp()};
  std::array<std::byte, 220> bytes{};
  for (int i = 0; i < 10; ++i) {
    const auto slots = sq.reserve(kSolo, Room{1, 4});
    ASSERT_TRUE(slots.ok()) << i;
    sq.write_inline(slots[0], nic.remote(bytes), bytes.data(), 200);
    static_cast<void>(sq.submit(kSolo, slots));
    nic.step();
  }
}

// A CQE's 16 bits, and the 32 that a lean queue compares, must not make an old ticket a new one.
TEST(Wraps, ATicketOfLongAgoIsComplete) {
  for (const std::uint64_t turns : {1ull << 15, 1ull << 16, 1ull << 31, 1ull << 32, 3ull << 31}) {
    FakeNic nic({.sq_wqebbs = 8, .start = turns + 5, .timeout_ns = 1'000'000});
    std::uint64_t to = 0;
    SendQueue<Tested<GpuFence>> sq{nic.qp()};
    const auto slots = sq.reserve(kSolo, 1);
    sq.write_value(slots[0], nic.remote(to), 1);
    const auto fresh = sq.submit(kSolo, slots);
    EXPECT_TRUE(sq.wait(kSolo, Ticket{5, 6, Status::kOk}).ok()) << turns;
    EXPECT_EQ(sq.wait(kSolo, fresh).status, Status::kTimeout) << "and leaves the new one alone";
    nic.step();
    EXPECT_TRUE(sq.wait(kSolo, fresh).ok());
  }
}

// --- the next kernel ------------------------------------------------------------------------------------------------

TEST(Counters, TheNextSendQueueContinuesWhereTheLastOneStopped) {
  for (const auto layout : {CqLayout::kCollapsed, CqLayout::kRing}) {
    FakeNic nic({.sq_wqebbs = 8, .layout = layout, .start = 65'530});
    std::uint64_t to = 0;
    for (std::uint64_t kernel = 1; kernel <= 50; ++kernel) {
      SendQueue<Tested<GpuFence>> sq{nic.qp()};
      const auto write = [&](const Slot& s) { sq.write_value(s, nic.remote(to), kernel); };
      ASSERT_TRUE(one(nic, sq, 1, write).ok());
      ASSERT_EQ(to, kernel);
    }
    EXPECT_EQ(nic.counters().pi, 65'530u + 50);
    EXPECT_EQ(nic.counters().ci, 65'530u + 50);
    EXPECT_THAT(nic.complaints(), IsEmpty());
  }
}

// A kernel may make a lean queue anew for each message, or keep one, or both: the counters are all there is.
TEST(Lean, ObjectsOfOneQueueSeeEachOthersProgress) {
  for (const auto layout : {CqLayout::kCollapsed, CqLayout::kRing}) {
    FakeNic nic({.sq_wqebbs = 8, .layout = layout, .start = 65'530});
    std::uint64_t to = 0;
    SendQueue<Lean<GpuFence>> kept{nic.qp()};
    for (std::uint64_t round = 1; round <= 20; ++round) {
      SendQueue<Lean<GpuFence>> fresh{nic.qp()};
      auto& sq = round % 2 == 0 ? kept : fresh;
      const auto write = [&](const Slots& s) { sq.write_value(s[0], nic.remote(to), round); };
      const auto ticket = sq.post(kSolo, {}, write);
      nic.step();
      ASSERT_TRUE((round % 3 == 0 ? kept : fresh).wait(kSolo, ticket).ok());
      ASSERT_EQ(to, round);
      ASSERT_EQ(nic.counters().ci, 65'530 + round) << "at once, not when the object ends";
    }
    EXPECT_THAT(nic.complaints(), IsEmpty());
  }
}

TEST(Lean, HoldsTheHandleAndNothingOfItsState) {
  EXPECT_LE(sizeof(SendQueue<Lean<GpuFence>>), 5 * sizeof(void*));
  EXPECT_FALSE((std::is_constructible_v<SendQueue<Lean<GpuFence>>, Qp&&>)) << "the handle would be gone";
  EXPECT_TRUE((std::is_constructible_v<SendQueue<Lean<GpuFence>>, const Qp&>));
}

}  // namespace
}  // namespace marrow::gda
