// SPDX-License-Identifier: Apache-2.0
// Producer threads against a consumer thread, past many wraps of a small ring: each descriptor arrives once, each
// producer's in order, whoever is slow.
#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "proxy/hand_offs.h"

namespace marrow::proxy::testing {
namespace {

using gda::Status;
constexpr std::uint32_t kDepth = 16;
constexpr std::uint64_t kPuts = 8'000;  // of each producer: hundreds of laps
constexpr std::uint64_t kLimitMs = 20'000;

/// Descriptor number `i` of a producer: its name in the route, the number in both offsets.
Put numbered(std::uint32_t producer, std::uint64_t i) {
  return {.route = producer, .from = i, .to = kMaxOffset - i, .bytes = static_cast<std::uint32_t>(i & kMaxPutBytes)};
}

struct Seen {
  std::vector<std::uint64_t> next;  // of each producer
  std::uint64_t wrong = 0;
};

/// Takes `all` descriptors. Every so often it is slower than its producers, so that the ring fills up.
template <class H>
Seen consume(Consumer<H>& consumer, std::uint32_t producers, std::uint64_t all) {
  Seen seen{std::vector<std::uint64_t>(producers, 0)};
  gda::SpinLimit limit(kLimitMs * 1'000'000);
  while (consumer.taken() < all) {
    const auto request = consumer.take();
    if (!request) {
      if (limit.expired()) break;
      continue;
    }
    limit = gda::SpinLimit(kLimitMs * 1'000'000);
    auto& next = seen.next.at(request->route);
    const auto put = numbered(request->route, next++);
    seen.wrong += *request != Request{Op::kPut, put.route, 0, put.bytes, put.from, put.to};
    if (consumer.taken() % 1000 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    consumer.free_up_to(consumer.taken());
    consumer.complete_up_to(consumer.taken());
  }
  return seen;
}

template <class H>
void hand_over_from(std::uint32_t producers) {
  TestRing<H> memory(kDepth, kLimitMs);
  Consumer<H> consumer(memory.ring());
  std::atomic<std::uint64_t> failures{0};
  std::vector<std::thread> threads;
  for (std::uint32_t p = 0; p < producers; ++p) {
    threads.emplace_back([&, p] {
      Producer<H> producer(memory.ring());
      Ticket last;
      for (std::uint64_t i = 0; i < kPuts; ++i) {
        last = producer.put(numbered(p, i));
        failures += last.status != Status::kOk;
      }
      failures += producer.wait(last) != Status::kOk;
    });
  }
  const auto seen = consume(consumer, producers, producers * kPuts);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failures, 0u);
  EXPECT_EQ(seen.wrong, 0u);
  EXPECT_THAT(seen.next, ::testing::Each(kPuts));
  EXPECT_EQ(consumer.take(), std::nullopt) << "a descriptor too many";
}

template <class H>
class AnyRing : public ::testing::Test {};
TYPED_TEST_SUITE(AnyRing, AllHandOffs, NameOf);
TYPED_TEST(AnyRing, OneProducerPastManyWraps) {
  hand_over_from<TypeParam>(1);
}

template <class H>
class SharedRings : public ::testing::Test {};
TYPED_TEST_SUITE(SharedRings, SharedHandOffs, NameOf);
TYPED_TEST(SharedRings, ThreeProducersPastManyWraps) {
  hand_over_from<TypeParam>(3);
}

/// The payload of a hand-off that orders it is there when its descriptor is: under TSan this is a proof for the host.
template <class H>
class OrderedRing : public ::testing::Test {};
using Ordered = ::testing::Types<Baseline, PhaseMark, Flags64, NonZero16, Fenced<Tuned, PreFence::kSystem>>;
TYPED_TEST_SUITE(OrderedRing, Ordered, NameOf);
TYPED_TEST(OrderedRing, ThePayloadIsThereWhenItsDescriptorIs) {
  static_assert(orders_payload<TypeParam>());
  TestRing<TypeParam> memory(kDepth, kLimitMs);
  std::array<std::uint64_t, kDepth> payload{};
  std::thread producer_thread([&] {
    Producer<TypeParam> producer(memory.ring());
    for (std::uint64_t i = 0; i < kPuts; ++i) {
      if (i >= kDepth && producer.wait({i - kDepth + 1}) != Status::kOk) return;
      payload[i % kDepth] = i * 3;
      if (producer.put(numbered(0, i)).status != Status::kOk) return;
    }
  });
  Consumer<TypeParam> consumer(memory.ring());
  gda::SpinLimit limit(kLimitMs * 1'000'000);
  std::uint64_t wrong = 0;
  while (consumer.taken() < kPuts && !limit.expired()) {
    const auto request = consumer.take();
    if (!request) continue;
    wrong += payload[request->from % kDepth] != request->from * 3;
    consumer.free_up_to(consumer.taken());
    consumer.complete_up_to(consumer.taken());
  }
  producer_thread.join();
  EXPECT_EQ(consumer.taken(), kPuts);
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace marrow::proxy::testing
