// SPDX-License-Identifier: Apache-2.0
// What the recipes promise, written out by hand, and that a count that differs makes the expectation fail.
#include "experiments/common/counts.h"

#include <gmock/gmock.h>

namespace marrow::experiments {
namespace {

using gda::Ordering;

TEST(PromisedCounts, OfTheSevenRecipesByHand) {
  struct Row {
    Ordering ordering;
    unsigned gpu, system, releases, acquires;
  };
  for (const auto& row : {Row{Ordering::kNone, 0, 0, 0, 0}, Row{Ordering::kGpuFence, 1, 0, 0, 1},
                          Row{Ordering::kGpuFenceDbrec, 2, 0, 0, 1}, Row{Ordering::kGpuReleaseStore, 0, 0, 2, 1},
                          Row{Ordering::kThreadfence, 2, 0, 0, 1}, Row{Ordering::kSystemReleaseStore, 0, 0, 1, 1},
                          Row{Ordering::kSystemFence, 0, 1, 0, 1}}) {
    const auto counts = promised_counts(gda::recipe_of(row.ordering), /*ds=*/3, /*operations=*/10);
    EXPECT_EQ(counts.gpu_fences, row.gpu * 10U);
    EXPECT_EQ(counts.system_fences, row.system * 10U);
    EXPECT_EQ(counts.release_stores, row.releases * 10U);
    EXPECT_EQ(counts.acquire_fences, row.acquires * 10U);
    EXPECT_EQ(counts.wqes, 10U);
    EXPECT_EQ(counts.wqe_stores, 30U);
    EXPECT_EQ(counts.doorbells, 10U);
    EXPECT_EQ(counts.atomics, 0U);
  }
}

TEST(ExpectCounts, ADifferenceIsNamedAndNoneIsSilent) {
  measure::Record record;
  const auto promised = promised_counts(gda::recipe_of(Ordering::kGpuFence), 3, 5);
  expect_counts(record, promised, promised);
  EXPECT_TRUE(record.expectations.empty());
  auto seen = promised;
  ++seen.doorbells;
  expect_counts(record, seen, promised);
  ASSERT_EQ(record.expectations.size(), 1U);
  EXPECT_FALSE(record.expectations[0].held);
  EXPECT_THAT(record.expectations[0].text, ::testing::HasSubstr("doorbells 6 instead of 5"));
}

}  // namespace
}  // namespace marrow::experiments
