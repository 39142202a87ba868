// SPDX-License-Identifier: Apache-2.0
// Who sits where: no GPU is needed for that.
#include "cx7/cuda/seats.h"

#include <gtest/gtest.h>

#include <set>

namespace marrow::cx7::cuda {
namespace {

TEST(Seats, RefusesAQueuePairWhenTheWarpOfItsCqIsFull) {
  Seats seats;
  for (std::uint32_t i = 0; i < kLanes; ++i) ASSERT_TRUE(seats.take(7)) << i;
  EXPECT_FALSE(seats.take(7));
  EXPECT_TRUE(seats.take(8));  // another CQ may go elsewhere
}

TEST(Seats, RefusesWhenEveryWarpIsFull) {
  Seats seats;
  for (std::uint64_t cq = 0; cq < std::uint64_t{kWarps} * kLanes; ++cq) ASSERT_TRUE(seats.take(cq)) << cq;
  EXPECT_FALSE(seats.take(5000));
}

TEST(Seats, SpreadsQueuePairsOverTheWarps) {
  Seats seats;
  std::set<std::uint32_t> warps;
  for (std::uint64_t cq = 0; cq < kWarps; ++cq) warps.insert(seats.take(cq)->warp);
  EXPECT_EQ(warps.size(), kWarps);
}

TEST(Seats, QueuePairsOfOneCqShareItsWarpAndItsKeeper) {
  Seats seats;
  const auto first = seats.take(3);
  const auto other = seats.take(4);
  const auto second = seats.take(3);
  ASSERT_TRUE(first && other && second);
  EXPECT_TRUE(first->new_cq);
  EXPECT_FALSE(second->new_cq);
  EXPECT_EQ(second->warp, first->warp);
  EXPECT_EQ(second->cq_lane, first->cq_lane);
  EXPECT_NE(second->lane, first->lane);
  EXPECT_NE(other->warp, first->warp);
}

TEST(Seats, AKeeperStaysAsLongAsAnybodyUsesItsCq) {
  Seats seats;
  const auto first = seats.take(3);
  const auto second = seats.take(3);
  seats.give_back(*first, 3);
  const auto third = seats.take(3);
  EXPECT_EQ(third->cq_lane, second->cq_lane);
  EXPECT_FALSE(third->new_cq);
  seats.give_back(*second, 3);
  seats.give_back(*third, 3);
  EXPECT_TRUE(seats.take(3)->new_cq);
}

}  // namespace
}  // namespace marrow::cx7::cuda
