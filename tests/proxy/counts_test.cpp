// SPDX-License-Identifier: Apache-2.0
// What each step of the hand-off does for one descriptor, counted by the code that does it. docs/proxy.md has the
// table.
#include <gmock/gmock.h>

#include "proxy/hand_offs.h"

namespace marrow::proxy::testing {
namespace {

constexpr std::uint64_t kPuts = 10;

template <class H>
Counts counts_of() {
  TestRing<H> memory(64);
  Producer<H, CountingProbe> producer(memory.ring());
  for (std::uint64_t i = 0; i < kPuts; ++i) EXPECT_EQ(producer.put(put_number(i)).status, gda::Status::kOk);
  return producer.probe().counts;
}

TEST(Counts, TheBaselinePaysForEverything) {
  EXPECT_EQ(counts_of<Baseline>(), (Counts{.descriptors = kPuts,
                                           .atomics = kPuts,
                                           .credit_reads = kPuts,
                                           .stores = 2 * kPuts,
                                           .release_stores = kPuts}));
}

TEST(Counts, EachStepTakesOneThingAway) {
  auto expected = counts_of<Baseline>();
  expected.atomics = 0;
  EXPECT_EQ(counts_of<OwnRing>(), expected);
  expected.credit_reads = 0;
  EXPECT_EQ(counts_of<CachedCredit>(), expected);
  expected.stores = kPuts;
  EXPECT_EQ(counts_of<PhaseMark>(), expected);
  expected.release_stores = 0;
  EXPECT_EQ(counts_of<Tuned>(), expected);
}

TEST(Counts, TheTunedOneReadsTheWorkersIndexOnceALapAtMost) {
  TestRing<Tuned> memory(64);
  Producer<Tuned, CountingProbe> producer(memory.ring());
  Consumer<Tuned> consumer(memory.ring());
  for (std::uint64_t i = 0; i < 64 * 50; ++i) {
    ASSERT_EQ(producer.put(put_number(i)).status, gda::Status::kOk);
    ASSERT_TRUE(consumer.take());
    consumer.free_up_to(i + 1);
  }
  EXPECT_EQ(producer.probe().counts.credit_reads, 49u);
}

TEST(Counts, LongDescriptorsAndFencesAreCounted) {
  EXPECT_EQ(
      counts_of<Flags64>(),
      (Counts{
          .descriptors = kPuts, .atomics = kPuts, .credit_reads = kPuts, .system_fences = kPuts, .stores = 4 * kPuts}));
  EXPECT_EQ(counts_of<Words32>(),
            (Counts{.descriptors = kPuts, .atomics = kPuts, .gpu_fences = kPuts, .stores = 4 * kPuts}));
}

}  // namespace
}  // namespace marrow::proxy::testing
