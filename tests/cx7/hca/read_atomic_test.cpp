// SPDX-License-Identifier: Apache-2.0
// Reads and atomics: bytes come back, old values come back, and both obey their windows and rights.
#include <gmock/gmock.h>

#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

TEST(Read, QpWithoutRemoteReadIsAnInvalidRequest) {
  TwoSides nic;
  nic.b.qp->attributes.access = kRemoteWrite;
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8, wire::Opcode::kRead));
  nic.a.announce();
  nic.run();
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kRemoteInvalidRequest);
}

TEST(Read, IntoAKeyWithoutLocalWriteIsRefusedHere) {
  TwoSides nic;
  nic.a.mkey->access = 0;
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8, wire::Opcode::kRead));
  nic.a.announce();
  nic.run();
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kLocalProtection);
}

// More reads than the window allows, of many packets each, with a write behind them.
TEST(Read, ManyReadsComeBackInOrderThroughASmallWindow) {
  auto attributes = kUsual;
  attributes.initiator_reads = 2;
  TwoSides nic(Checking::kStrict, attributes);
  constexpr std::uint32_t kBytes = 10000;
  for (std::size_t k = 0; k < 8 * kBytes; ++k) nic.b.buffer.data[k] = static_cast<std::byte>(k * 13 + 5);
  for (std::uint32_t k = 0; k < 8; ++k) {
    nic.a.put(
        wire::write_wqe(nic.a.next(), nic.b.remote(k * kBytes), nic.a.local(k * kBytes), kBytes, wire::Opcode::kRead));
  }
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(kBufferBytes - 8), nic.a.local(), 8));
  nic.a.announce();
  nic.run();
  for (std::uint16_t k = 0; k < 9; ++k) {
    const auto* cqe = nic.a.poll();
    ASSERT_NE(cqe, nullptr) << k;
    ASSERT_FALSE(cqe->is_error()) << wire::syndrome_name(cqe->syndrome);
    EXPECT_EQ(cqe->wqe_counter.host(), k);
    if (k < 8) {
      EXPECT_EQ(cqe->byte_count.host(), kBytes);
    }
  }
  EXPECT_EQ(std::memcmp(nic.a.buffer.data, nic.b.buffer.data, 8 * kBytes), 0);
  EXPECT_EQ(nic.a.device.counters.retransmissions, 0u);
}

TEST(Atomic, MisalignedAddressIsRefused) {
  TwoSides nic;
  nic.a.put(wire::atomic_wqe(nic.a.next(), nic.b.remote(4), nic.a.local(), {.swap_add = 1}));
  nic.a.announce();
  nic.run();
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kRemoteInvalidRequest);
}

TEST(Atomic, QpWithoutAtomicsIsRefused) {
  TwoSides nic;
  nic.b.qp->attributes.access = kRemoteWrite | kRemoteRead;
  nic.a.put(wire::atomic_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), {.swap_add = 1}));
  nic.a.announce();
  nic.run();
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kRemoteInvalidRequest);
  EXPECT_EQ(nic.b.buffer.data[0], std::byte{0});
}

TEST(Atomic, FetchAddReturnsTheOldValueInHostOrder) {
  TwoSides nic;
  std::uint64_t counter = 40;
  std::memcpy(nic.b.buffer.data, &counter, 8);
  for (int k = 0; k < 50; ++k) {
    nic.a.put(
        wire::atomic_wqe(nic.a.next(), nic.b.remote(), nic.a.local(8 * static_cast<std::size_t>(k)), {.swap_add = 2}));
    nic.a.announce();
    nic.run();
    ASSERT_NE(nic.a.poll(), nullptr);
    std::uint64_t old = 0;
    std::memcpy(&old, nic.a.buffer.data + 8 * k, 8);
    EXPECT_EQ(old, 40u + 2u * static_cast<unsigned>(k));
  }
  std::memcpy(&counter, nic.b.buffer.data, 8);
  EXPECT_EQ(counter, 140u);
}

TEST(Atomic, CompareSwapSwapsOnlyOnEquality) {
  TwoSides nic;
  std::uint64_t value = 7;
  std::memcpy(nic.b.buffer.data, &value, 8);
  const auto swap = [&](std::uint64_t compare, std::uint64_t to) {
    nic.a.put(wire::atomic_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), {wire::Opcode::kCompareSwap, to, compare}));
    nic.a.announce();
    nic.run();
    EXPECT_NE(nic.a.poll(), nullptr);
    std::uint64_t old = 0;
    std::memcpy(&old, nic.a.buffer.data, 8);
    return old;
  };
  EXPECT_EQ(swap(8, 1), 7u);
  std::memcpy(&value, nic.b.buffer.data, 8);
  EXPECT_EQ(value, 7u);
  EXPECT_EQ(swap(7, 0x1122334455667788), 7u);
  std::memcpy(&value, nic.b.buffer.data, 8);
  EXPECT_EQ(value, 0x1122334455667788u);
}

// A fenced write waits for the read before it.
TEST(Read, FencedWriteWaits) {
  TwoSides nic;
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 100000, wire::Opcode::kRead));
  auto post = nic.a.next();
  post.fence = wire::Fence::kFence;
  nic.a.put(wire::write_wqe(post, nic.b.remote(), nic.a.local(), 8));
  nic.a.announce();
  nic.step();
  EXPECT_EQ(nic.a.device.counters.wqes_fetched, 1u);
  nic.run();
  EXPECT_EQ(nic.a.device.counters.wqes_fetched, 2u);
  EXPECT_NE(nic.a.poll(), nullptr);
  EXPECT_NE(nic.a.poll(), nullptr);
}

}  // namespace
}  // namespace marrow::cx7::test
