// SPDX-License-Identifier: Apache-2.0
// The NIC in a thread of its own: each ordering that promises something keeps its promise between two threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "gda/fake_nic.h"
#include "gda/tested.h"
#include "marrow/gda/dump.h"

namespace marrow::gda {
namespace {

template <class P>
void stream(CqLayout layout, DoorbellMapping mapping) {
  constexpr std::uint32_t kRounds = 3000;
  constexpr std::uint32_t kWqes = 8;
  FakeNic nic({.sq_wqebbs = 32, .layout = layout, .start = 65'000, .mapping = mapping, .timeout_ns = 30'000'000'000});
  std::atomic<bool> stop = false;
  std::uint64_t to[kWqes] = {};
  std::thread engine([&] {
    while (!stop) {
      if (nic.step() == 0) std::this_thread::sleep_for(std::chrono::microseconds(1));
    }
  });
  {
    SendQueue<Tested<P>> sq{nic.qp()};
    const Solo team;
    Result last;
    for (std::uint64_t round = 1; round <= kRounds && last.ok(); ++round) {
      const auto slots = sq.reserve(team, kWqes);
      for (std::uint32_t i = 0; i < kWqes; ++i) sq.write_value(slots[i], nic.remote(to[i]), round * kWqes + i);
      const auto ticket = sq.submit(team, slots);
      if (round % 4 == 0 || round == kRounds) last = sq.wait(team, ticket);
    }
    EXPECT_TRUE(last.ok()) << P::name << "\n" << format_dump(sq.dump());
  }
  stop = true;
  engine.join();
  for (std::uint32_t i = 0; i < kWqes; ++i) EXPECT_EQ(to[i], kRounds * kWqes + i) << P::name;
  EXPECT_THAT(nic.complaints(), testing::IsEmpty()) << P::name;
}

TEST(Threads, EveryPromisingOrderingDeliversWholeWqes) {
  OrderingPolicies::for_each([]<class P>() {
    if constexpr (P::ordering != Ordering::kNone) {
      stream<P>(CqLayout::kCollapsed, DoorbellMapping::kOrdinaryMemory);
      stream<P>(CqLayout::kRing, DoorbellMapping::kWriteCombining);
      stream<Batch<P, 3>>(CqLayout::kCollapsed, DoorbellMapping::kUncached);
    }
  });
}

}  // namespace
}  // namespace marrow::gda
