// SPDX-License-Identifier: Apache-2.0
// What one submit costs in atomics, fences, records and doorbells, for each way of sharing and each doorbell sequence:
// exact, and the same on every machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gda/fake_nic.h"
#include "gda/tested.h"
#include "marrow/gda/shared_queue.h"

namespace marrow::gda {
namespace {

/// Eight writes in one submit, then a wait.
template <class P>
Counts put() {
  FakeNic nic({.needs_record = false});
  std::uint64_t word = 0, to = 0;
  Qp qp = nic.qp();
  if constexpr (P::doorbell == DoorbellSequence::kForwarded) qp.doorbell = &word;
  SendQueue<Tested<P>, CountingProbe> sq{qp};
  const Solo team;
  const auto slots = sq.reserve(team, 8);
  for (std::uint32_t i = 0; i < 8; ++i) sq.write_value(slots[i], nic.remote(to), i);
  const auto ticket = sq.submit(team, slots);
  if constexpr (P::doorbell == DoorbellSequence::kForwarded)
    nic.register_word() = wire::doorbell_word(FakeNic::kQpn, word);
  EXPECT_EQ(nic.step(), 8u);
  EXPECT_TRUE(sq.wait(team, ticket).ok());
  return sq.probe().counts;
}

struct Published {
  unsigned atomics, gpu_fences, dbrecs, doorbells;
};
template <class P>
void expect(const Published& expected, const char* what) {
  const auto counts = put<P>();
  EXPECT_EQ(counts.atomics, expected.atomics) << what;
  EXPECT_EQ(counts.gpu_fences, expected.gpu_fences) << what;
  EXPECT_EQ(counts.dbrecs, expected.dbrecs) << what;
  EXPECT_EQ(counts.doorbells, expected.doorbells) << what;
  EXPECT_EQ(counts.wqes, 8u) << what;
  EXPECT_EQ(counts.cqes, 1u) << what;
}

// Atomics: the reservation; the turn by compare-and-swap; the lock; the maximum; the progress that the wait shares.
TEST(PublicationCounts, Sharing) {
  expect<GpuFence>({0, 1, 1, 1}, "exclusive");
  expect<Shared<GpuFence>>({5, 3, 1, 1}, "compare-and-swap, lock: before, lock, doorbell");
  expect<Shared<GpuFence, Turn::kReadyIndex>>({4, 4, 1, 1}, "ready index, lock: before, after, lock, doorbell");
  expect<Shared<GpuFence, Turn::kReadyIndex, PostLock::kTurn>>({2, 1, 1, 1}, "the turn is the lock");
  expect<InBlock<Shared<GpuFence>>>({5, 1, 1, 1}, "one block: its fences have block scope");
  expect<Locked<GpuFence>>({2, 2, 1, 1}, "lock per WQE");
}

TEST(PublicationCounts, DoorbellSequences) {
  expect<Rings<GpuFence, DoorbellSequence::kEarly>>({0, 2, 1, 2}, "doorbell, record, doorbell");
  expect<Rings<GpuFence, DoorbellSequence::kEarlyUnfenced>>({0, 1, 1, 2}, "no fence before the first");
  expect<Rings<GpuFence, DoorbellSequence::kNoRecord>>({0, 1, 0, 1}, "doorbell alone");
  expect<Forwarded<GpuFence>>({0, 1, 0, 1}, "a word for the host");
  expect<Forwarded<Shared<GpuFence, Turn::kCompareSwap, PostLock::kNone>>>({4, 2, 0, 1}, "a maximum for the host");
  expect<Rings<Shared<GpuFence, Turn::kCompareSwap, PostLock::kNone>, DoorbellSequence::kNoRecord>>(
      {4, 2, 0, 1}, "neither lock nor record");
}

// What NCCL's GDAKI does, as a policy: relaxed scope for each step, two doorbells, a CQE for each WQE.
struct LikeGdaki : Policy {
  static constexpr std::string_view name = "like-gdaki";
  static constexpr Ordering ordering = Ordering::kCustom;
  static constexpr Recipe custom_recipe{FenceKind::kNone, StoreKind::kRelaxedSystem, FenceKind::kGpuRelease,
                                        StoreKind::kMmio, Scope::kSystem};
  static constexpr WqeStore wqe_store = WqeStore::kStreaming;
  static constexpr Sharing sharing = Sharing::kSlots;
  static constexpr Publication publication{Turn::kReadyIndex, PostLock::kLock, FenceKind::kGpuRelease,
                                           FenceKind::kGpuAcquire};
  static constexpr DoorbellSequence doorbell = DoorbellSequence::kEarly;
  static constexpr Completion completion{Signal::kEvery};
};
TEST(PublicationCounts, AnotherLibrarysPolicyIsDataNotCode) {
  const auto counts = put<LikeGdaki>();
  EXPECT_EQ(counts.doorbells, 2u);
  EXPECT_EQ(counts.gpu_fences, 5u) << "before, after, behind the lock, before each doorbell";
}

TEST(PublicationCounts, ConsumedCqesAreReportedWhereThePolicySaysSo) {
  struct {
    FakeNic nic{{.layout = CqLayout::kRing}};
    wire::CqDbrec dbrec{};
  } at;
  Qp qp = at.nic.qp();
  qp.cq_consumer = &at.dbrec.consumer;
  SendQueue<Tested<Reporting<SignalEvery<GpuFence>>>> sq{qp};
  std::uint64_t to = 0;
  const auto slots = sq.reserve(Solo{}, 3);
  for (std::uint32_t i = 0; i < 3; ++i) sq.write_value(slots[i], at.nic.remote(to), 1);
  const auto ticket = sq.submit(Solo{}, slots);
  at.nic.step();
  EXPECT_TRUE(sq.wait(Solo{}, ticket).ok());
  EXPECT_EQ(at.dbrec.consumer.host(), 3u);
}

}  // namespace
}  // namespace marrow::gda
