// SPDX-License-Identifier: Apache-2.0
// Traffic under load notices a message that is wrong or missing, keeps its window, and a record names who was the
// limit.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "experiments/common/load/bulk.h"
#include "experiments/common/load/burst.h"
#include "experiments/common/load/limit.h"

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kPlaces = 8;

/// Delivers when it is waited for, all but one message.
class FakeWay {
 public:
  struct Ticket {
    Run run;
    gda::Status status = gda::Status::kOk;
  };
  explicit FakeWay(const Cargo& cargo) : cargo_(cargo) {}

  Ticket post(const Run& run) {
    posted_ += run.count;
    most_ = std::max(most_, posted_ - done_);
    return {run, posted_ > refused_from_ ? gda::Status::kQueueFull : gda::Status::kOk};
  }
  gda::Status wait(const Ticket& ticket) {
    auto* far = const_cast<std::byte*>(cargo_.far);
    for (std::uint32_t k = 0; k < ticket.run.count; ++k, ++done_) {
      const auto at = std::size_t{ticket.run.first + k} * cargo_.bytes;
      if (done_ != lost_) std::memcpy(far + at, cargo_.source + at, cargo_.bytes);
    }
    return gda::Status::kOk;
  }

  std::uint64_t lost_ = ~0ull;
  std::uint64_t refused_from_ = ~0ull;
  std::uint64_t posted_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t most_ = 0;

 private:
  const Cargo& cargo_;
};

struct Memory {
  explicit Memory(std::uint32_t bytes = 8) : near(kPlaces * bytes), far(kPlaces * bytes) {
    cargo.source = near.data();
    cargo.far = far.data();
    cargo.bytes = bytes;
    cargo.lane = 3;
  }
  std::vector<std::byte> near;
  std::vector<std::byte> far;
  Cargo cargo;
};

TEST(Bulk, AMessageThatDidNotArriveIsNamed) {
  Memory memory;
  FakeWay way(memory.cargo);
  way.lost_ = 21;
  Bulk<FakeWay> bulk(way, memory.cargo, kPlaces);
  int steps = 0;
  while (bulk.step()) ++steps;
  EXPECT_TRUE(bulk.failure().wrong);
  EXPECT_EQ(bulk.failure().at, 21u) << "the place holds what was sent a window earlier";
  EXPECT_EQ(steps, 7);
}

TEST(Bulk, AHandOverThatIsRefusedEndsIt) {
  Memory memory;
  FakeWay way(memory.cargo);
  way.refused_from_ = 16;
  Bulk<FakeWay> bulk(way, memory.cargo, kPlaces);
  while (bulk.step()) {
  }
  EXPECT_EQ(bulk.failure().status, gda::Status::kQueueFull);
  EXPECT_FALSE(bulk.drain());
}

TEST(Bulk, KeepsAWindowUnderWayAndComparesAllOfIt) {
  Memory memory(16);
  FakeWay way(memory.cargo);
  Bulk<FakeWay> bulk(way, memory.cargo, kPlaces);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(bulk.step()) << i;
  EXPECT_EQ(way.most_, kPlaces);
  EXPECT_EQ(bulk.carried(), 100 * 4 - kPlaces);
  EXPECT_TRUE(bulk.drain());
  EXPECT_EQ(bulk.carried(), 400u);
}

TEST(Burst, EveryByteOfEveryPlaceIsCompared) {
  Memory memory(24);
  load_burst(memory.cargo, 5, kPlaces);
  memory.far = memory.near;
  EXPECT_TRUE(check_burst(memory.cargo, 5, kPlaces).ok());
  EXPECT_FALSE(check_burst(memory.cargo, 6, kPlaces).ok()) << "another repetition's bytes";
  memory.far[7 * 24 + 23] ^= std::byte{1};
  const auto failure = check_burst(memory.cargo, 5, kPlaces);
  EXPECT_TRUE(failure.wrong);
  EXPECT_EQ(failure.at, burst_number(5, kPlaces, 7));
}

TEST(Stamps, LanesMessagesAndWordsDiffer) {
  Cargo a, b;
  b.lane = 1;
  EXPECT_NE(a.stamp(0, 0), b.stamp(0, 0));
  EXPECT_NE(a.stamp(0, 0), a.stamp(1, 0));
  EXPECT_NE(a.stamp(0, 0), a.stamp(0, 1));
}

TEST(Limit, IsTheNicWhereWorkersFindNoRoomAndTheLanesWhereTheyFindNothing) {
  const Busy stalled{.worker_ticks = 100, .busy_ticks = 90, .looks = 10, .stalls = 6};
  const Busy busy{.worker_ticks = 100, .busy_ticks = 90, .looks = 10, .stalls = 1};
  const Busy idle{.worker_ticks = 100, .busy_ticks = 10, .looks = 10};
  EXPECT_EQ(limit_of(stalled), Limit::kNic);
  EXPECT_EQ(limit_of(busy), Limit::kWorkers);
  EXPECT_EQ(limit_of(idle), Limit::kLanes);
  EXPECT_EQ(limit_of({.steps = 10, .steps_with_work = 9}), Limit::kNic) << "no workers";
  EXPECT_EQ(limit_of({.steps = 10, .steps_with_work = 1}), Limit::kLanes);
}

TEST(Limit, WhatOthersHeldBackIsAWarningAndWhatTheTransportMissedAFailure) {
  const Busy stalled{.worker_ticks = 100, .busy_ticks = 90, .looks = 10, .stalls = 6};
  const Busy busy{.worker_ticks = 100, .busy_ticks = 90, .looks = 10, .stalls = 1};
  measure::Record record;
  expect_of_transport(stalled, "asked", false, record);
  EXPECT_TRUE(record.expectations.empty());
  EXPECT_EQ(record.warnings.size(), 1u);
  expect_of_transport(busy, "asked", false, record);
  ASSERT_EQ(record.expectations.size(), 1u);
  EXPECT_FALSE(record.expectations[0].held);
  expect_of_transport(stalled, "asked", true, record);
  EXPECT_TRUE(record.expectations.at(1).held);
}

}  // namespace
}  // namespace marrow::experiments
