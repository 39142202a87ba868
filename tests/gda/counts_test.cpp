// SPDX-License-Identifier: Apache-2.0
// What one operation costs in mechanism: exact for each recipe, the same on every machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "gda/fake_nic.h"
#include "gda/tested.h"
#include "marrow/gda/send_queue.h"

namespace marrow::gda {
namespace {

using testing::IsEmpty;

struct Run {
  Counts counts;
  unsigned cqes_written = 0;
};

/// `wqes` 8-byte writes in one submit.
template <class P>
Run put(std::uint32_t wqes, CqLayout layout = CqLayout::kCollapsed) {
  FakeNic nic({.layout = layout});
  std::uint64_t from[64];
  std::uint64_t to[64] = {};
  for (std::uint64_t i = 0; i < 64; ++i) from[i] = ~i;
  SendQueue<Tested<P>, CountingProbe> sq{nic.qp()};
  const Solo team;
  const auto slots = sq.reserve(team, wqes);
  for (std::uint32_t i = 0; i < wqes; ++i) {
    sq.write(slots[i], {.to = nic.remote(to[i]), .from = nic.local(from[i]), .bytes = 8});
  }
  const auto ticket = sq.submit(team, slots);
  nic.step();
  EXPECT_EQ(sq.wait(team, ticket).status, Status::kOk);
  EXPECT_THAT(nic.complaints(), IsEmpty());
  for (std::uint32_t i = 0; i < wqes; ++i) EXPECT_EQ(to[i], from[i]);
  return {sq.probe().counts, nic.cqes_written()};
}

struct Expected {
  const char* name;
  unsigned gpu_fences, system_fences, release_stores, acquire_fences;
};
constexpr Expected kTable[] = {
    {"none", 0, 0, 0, 0},
    {"gpu-fence", 1, 0, 0, 1},
    {"gpu-fence-dbrec", 2, 0, 0, 1},
    {"gpu-release-store", 0, 0, 2, 1},
    {"threadfence", 2, 0, 0, 1},
    {"sys-release-store", 0, 0, 1, 1},
    {"sys-fence", 0, 1, 0, 1},
};

TEST(Counts, EachOrderingIsItsOwnRecipe) {
  for (const auto& row : kTable) {
    const bool found = OrderingPolicies::visit(row.name, [&]<class P>() {
      const Counts expected{.wqes = 1,
                            .wqe_stores = 3,
                            .wqebbs = 1,
                            .gpu_fences = row.gpu_fences,
                            .system_fences = row.system_fences,
                            .release_stores = row.release_stores,
                            .dbrecs = 1,
                            .doorbells = 1,
                            .cqes = 1,
                            .acquire_fences = row.acquire_fences,
                            .atomics = 0};
      EXPECT_EQ(put<P>(1).counts, expected) << row.name;
      EXPECT_EQ(put<Pointer<P>>(1).counts, expected) << row.name << " by pointer: three segments as well";
      EXPECT_EQ(put<P>(1, CqLayout::kRing).counts, expected) << row.name << " on a ring CQ";
    });
    EXPECT_TRUE(found) << row.name;
  }
  EXPECT_EQ(std::size(kTable), OrderingPolicies::size) << "each recipe has its row here";
}

TEST(Counts, ASubmitRingsOnceUnlessThePolicyBatches) {
  EXPECT_EQ(put<GpuFence>(32).counts.doorbells, 1u);
  EXPECT_EQ((put<Batch<GpuFence, 1>>(32).counts.doorbells), 32u);
  EXPECT_EQ((put<Batch<GpuFence, 8>>(32).counts.doorbells), 4u);
  EXPECT_EQ((put<Batch<GpuFence, 32>>(32).counts.doorbells), 1u);
  EXPECT_EQ((put<Batch<GpuFence, 256>>(32).counts.doorbells), 1u);
}

// The rest of a division is announced too: nothing is ever left unrung.
TEST(Counts, TheLastDoorbellCoversTheRest) {
  const auto counts = put<Batch<GpuFenceDbrec, 5>>(32).counts;
  EXPECT_EQ(counts.doorbells, 7u);
  EXPECT_EQ(counts.dbrecs, 7u);
  EXPECT_EQ(counts.gpu_fences, 14u);
  EXPECT_EQ(counts.cqes, 1u);
}

TEST(Counts, SignalDecidesHowManyCqesTheNicWrites) {
  EXPECT_EQ(put<GpuFence>(32).cqes_written, 1u);
  EXPECT_EQ((put<SignalEvery<GpuFence>>(32).cqes_written), 32u);
  EXPECT_EQ((put<SignalEvery<GpuFence>>(32, CqLayout::kRing).counts.cqes), 32u);
}

TEST(Counts, ALongerInlinePayloadCostsAStoreASegment) {
  std::byte from[220];
  std::byte to[220];
  for (const std::uint32_t bytes : {0u, 8u, 12u, 13u, 28u, 29u, 92u, 93u, 156u, 220u}) {
    FakeNic nic;
    SendQueue<Tested<Inline<GpuFence, 220>>, CountingProbe> sq{nic.qp()};
    const auto slots = sq.reserve(Solo{}, Room{1, inline_write_wqebbs(bytes)});
    sq.write_inline(slots[0], nic.remote(to), from, bytes);
    const auto ticket = sq.submit(Solo{}, slots);
    nic.step();
    EXPECT_TRUE(sq.wait(Solo{}, ticket).ok());
    EXPECT_EQ(sq.probe().counts.wqe_stores, bytes == 0 ? 2 : 2 + (4 + bytes + 15) / 16) << bytes;
  }
}

TEST(Probes, NoProbeTakesNoRoom) {
  EXPECT_LT(sizeof(SendQueue<Tested<GpuFence>>), sizeof(SendQueue<Tested<GpuFence>, CountingProbe>));
  EXPECT_TRUE(std::is_empty_v<NoProbe>);
}

TEST(Probes, EachStageGetsItsTicks) {
  FakeNic nic;
  std::uint64_t to = 0;
  SendQueue<Tested<GpuFence>, StageProbe> sq{nic.qp()};
  for (int i = 0; i < 100; ++i) {
    const auto slots = sq.reserve(Solo{}, 1);
    sq.write_value(slots[0], nic.remote(to), 7);
    const auto ticket = sq.submit(Solo{}, slots);
    nic.step();
    ASSERT_TRUE(sq.wait(Solo{}, ticket).ok());
  }
  for (const auto stage : {Stage::kReserve, Stage::kWrite, Stage::kOrder, Stage::kDoorbell, Stage::kWait}) {
    EXPECT_GT(sq.probe().ticks[static_cast<int>(stage)], 0u) << stage_name(stage);
  }
}

TEST(Policies, AreFoundByNameOrNotAtAll) {
  EXPECT_FALSE(OrderingPolicies::visit("no-such-policy", []<class P>() {}));
  EXPECT_FALSE(OrderingPolicies::visit("gpu", []<class P>() {}));
  EXPECT_EQ((Batch<Pointer<SystemFence>, 16>::name), "sys-fence") << "a variation keeps the name";
}

}  // namespace
}  // namespace marrow::gda
