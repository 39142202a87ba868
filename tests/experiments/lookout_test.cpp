// SPDX-License-Identifier: Apache-2.0
// What ordering-litmus's lookout takes for stale, on a ring and a register that nobody else looks at.
#include "experiments/ordering_litmus/lookout.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "marrow/wire/doorbell.h"
#include "marrow/wire/wqe.h"

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kWqebbs = 8;
constexpr std::uint32_t kQpn = 0x123;

class LookoutTest : public ::testing::Test {
 protected:
  /// Index `holds` stands at the place of WQE `index`.
  void put(std::uint32_t index, std::uint32_t holds) {
    auto& word = *reinterpret_cast<std::uint32_t*>(ring_ + std::size_t{index % kWqebbs} * wire::kWqebbBytes);
    std::atomic_ref(word).store(wire::swap_bytes((holds & 0xffff) << 8 | 8));
  }
  void ring_up_to(std::uint32_t end) {
    std::atomic_ref(register_).store(wire::doorbell_word(kQpn, end));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  gda::Qp queue() { return {.sq = ring_, .sq_wqebbs = kWqebbs, .qpn = kQpn, .doorbell = &register_}; }

  alignas(64) std::byte ring_[kWqebbs * wire::kWqebbBytes] = {};
  alignas(8) std::uint64_t register_ = 0;
};

TEST_F(LookoutTest, OlderIndicesAreStaleAndYoungerOnesAreNot) {
  put(65533, 65533);
  Lookout lookout(queue());
  ring_up_to(65534);
  put(65534, 65534);
  put(65535, 65535 - kWqebbs);  // the lap before
  put(65536, 65536 + kWqebbs);  // the lap after: its place was taken again meanwhile
  put(65537, 65537);
  ring_up_to(65538);
  const auto seen = lookout.stop();
  EXPECT_EQ(seen.looked_at, 1u + 4u);
  EXPECT_EQ(seen.stale, 1u);
}

TEST_F(LookoutTest, AnotherQueuesDoorbellAndAnOlderValueAreNotLookedAt) {
  put(7, 7);
  Lookout lookout(queue());
  ring_up_to(8);
  std::atomic_ref(register_).store(wire::doorbell_word(kQpn + 1, 12));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ring_up_to(5);
  EXPECT_EQ(lookout.stop().looked_at, 1u);
}

}  // namespace
}  // namespace marrow::experiments
