// SPDX-License-Identifier: Apache-2.0
// One producer and one consumer in one thread: what is refused, back-pressure, torn descriptors, wraps, failures.
#include <gmock/gmock.h>

#include "proxy/hand_offs.h"

namespace marrow::proxy::testing {
namespace {

using gda::Status;

TEST(Descriptor, RefusesWhatItsFieldsCannotHold) {
  const Request good{Op::kPut, kMaxRoute, kMaxSignal, kMaxPutBytes, kMaxOffset, kMaxOffset};
  ASSERT_TRUE(is_encodable(good));
  const auto refuses = [&](auto change) {
    Request bad = good;
    change(bad);
    return !is_encodable(bad);
  };
  EXPECT_TRUE(refuses([](Request& r) { r.op = Op::kNone; }));
  EXPECT_TRUE(refuses([](Request& r) { ++r.route; }));
  EXPECT_TRUE(refuses([](Request& r) { ++r.signal; }));
  EXPECT_TRUE(refuses([](Request& r) { ++r.bytes; }));
  EXPECT_TRUE(refuses([](Request& r) { ++r.from; }));
  EXPECT_TRUE(refuses([](Request& r) { ++r.to; }));
}

TEST(Descriptor, EveryFieldComesBackAtBothOfItsEnds) {
  for (const std::uint64_t mark : {0u, 1u}) {
    for (int most = 0; most < 32; ++most) {
      const auto pick = [&](int bit, auto value) { return most >> bit & 1 ? value : decltype(value){0}; };
      const Request r{Op::kFlush,          pick(0, kMaxRoute), pick(1, kMaxSignal), pick(2, kMaxPutBytes),
                      pick(3, kMaxOffset), pick(4, kMaxOffset)};
      const auto d = encode(r, mark);
      EXPECT_EQ(decode(d), r);
      EXPECT_EQ(d.words[0] & 1, mark);
      EXPECT_EQ(d.words[1] & 1, mark);
    }
  }
}

TEST(Ring, HasNoBytesForADepthThatIsNone) {
  for (const std::uint64_t depth : {0ull, 1ull, 3ull, 96ull, 2ull * kMaxRingDepth, 1ull << 40}) {
    EXPECT_EQ(ring_bytes<Tuned>(depth), 0u) << depth;
  }
  EXPECT_EQ(ring_bytes<Tuned>(2), 256u + 128u);
  EXPECT_EQ(ring_bytes<Baseline>(64), 256u + 64u * 16u + 256u);
}

template <class H>
class OneRing : public ::testing::Test {};
TYPED_TEST_SUITE(OneRing, AllHandOffs, NameOf);

TYPED_TEST(OneRing, RefusesAPutThatHasNoDescriptorAndHandsNothingOver) {
  TestRing<TypeParam> memory(4);
  Producer<TypeParam> producer(memory.ring());
  Consumer<TypeParam> consumer(memory.ring());
  EXPECT_EQ(producer.put({.bytes = kMaxPutBytes + 1}).status, Status::kBadRequest);
  EXPECT_EQ(producer.put({.route = kMaxRoute + 1}).status, Status::kBadRequest);
  EXPECT_EQ(producer.put_signal({}, kMaxSignal + 1).status, Status::kBadRequest);
  EXPECT_EQ(consumer.take(), std::nullopt);
  EXPECT_EQ(producer.wait({5, Status::kQueueFull}), Status::kQueueFull);
}

TYPED_TEST(OneRing, AFullRingRefusesAndKeepsWhatItHolds) {
  TestRing<TypeParam> memory(4);
  Producer<TypeParam> producer(memory.ring());
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(producer.put(put_number(i)).end, i + 1);
  EXPECT_EQ(producer.put(put_number(99)).status, Status::kQueueFull);
  EXPECT_EQ(producer.put(put_number(98)).status, Status::kQueueFull);
  Consumer<TypeParam> consumer(memory.ring());
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(consumer.take(), request_number(i));
  EXPECT_EQ(producer.put(put_number(99)).status, Status::kQueueFull) << "taken, but not freed";
  consumer.free_up_to(3);
  EXPECT_EQ(producer.put(put_number(4)).end, 5u) << "the refused ones used no index up";
  EXPECT_EQ(consumer.take(), request_number(3));
  EXPECT_EQ(consumer.take(), request_number(4));
  EXPECT_EQ(consumer.take(), std::nullopt);
}

TYPED_TEST(OneRing, AHalfArrivedDescriptorIsNotTaken) {
  constexpr std::uint32_t words = TypeParam::desc_bytes / 8;
  for (const std::uint64_t lap : {0u, 1u, 2u}) {
    TestRing<TypeParam> memory(2);
    Producer<TypeParam> producer(memory.ring());
    Consumer<TypeParam> consumer(memory.ring());
    for (std::uint64_t i = 0; i < 2 * lap; ++i) {
      ASSERT_EQ(producer.put(put_number(i)).status, Status::kOk);
      ASSERT_TRUE(consumer.take());
      consumer.free_up_to(i + 1);
    }
    auto* slot = reinterpret_cast<std::uint64_t*>(memory.ring().slots);
    std::uint64_t before[words], after[words];
    std::memcpy(before, slot, sizeof before);
    ASSERT_EQ(producer.put(put_number(1000)).status, Status::kOk);
    std::memcpy(after, slot, sizeof after);
    auto* ready = memory.ring().ready;
    for (std::uint32_t late = 0; late < words; ++late) {
      if (TypeParam::mark == Mark::kNonZeroWord && late > 0) break;  // its one store cannot be torn
      std::memcpy(slot, after, sizeof after);
      slot[late] = before[late];
      if (ready != nullptr) ready[0] -= 2;  // what it was a lap ago
      EXPECT_EQ(consumer.take(), std::nullopt) << "lap " << lap << ", word " << late << " is late";
      if (ready != nullptr) ready[0] += 2;
    }
    std::memcpy(slot, after, sizeof after);
    EXPECT_EQ(consumer.take(), request_number(1000));
  }
}

TYPED_TEST(OneRing, EachDescriptorArrivesOnceThroughManyWraps) {
  for (const std::uint64_t first : {std::uint64_t{0}, (std::uint64_t{1} << 16) - 64, (std::uint64_t{1} << 32) - 64}) {
    TestRing<TypeParam> memory(16, 2, first);
    Producer<TypeParam> producer(memory.ring());
    Consumer<TypeParam> consumer(memory.ring(), first);
    std::uint64_t put = first;
    for (std::uint64_t taken = first; taken < first + 1000;) {
      while (put - taken < 16 && put % 23 != 22) {
        ASSERT_EQ(producer.put(put_number(put)).end, put + 1);
        ++put;
      }
      if (put - taken < 16) {
        ASSERT_EQ(producer.put(put_number(put)).end, put + 1);
        ++put;
      }
      while (const auto request = consumer.take()) ASSERT_EQ(*request, request_number(taken++));
      ASSERT_EQ(taken, put);
      consumer.free_up_to(taken);
    }
  }
}

TYPED_TEST(OneRing, ATicketWaitsForItsOwnOperationAndNoLongerThanAllowed) {
  TestRing<TypeParam> memory(8);
  Producer<TypeParam> producer(memory.ring());
  Consumer<TypeParam> consumer(memory.ring());
  const auto first = producer.put(put_number(0));
  const auto second = producer.put_signal(put_number(1), 17);
  const auto third = producer.flush(5, FlushScope::kAllPeers);
  EXPECT_EQ(producer.wait(first), Status::kTimeout);
  consumer.complete_up_to(1);
  EXPECT_EQ(producer.wait(first), Status::kOk);
  EXPECT_EQ(producer.wait(second), Status::kTimeout);
  consumer.complete_up_to(3);
  EXPECT_EQ(producer.wait(third), Status::kOk);
  EXPECT_EQ(consumer.take(), request_number(0));
  const auto put = put_number(1);
  EXPECT_EQ(consumer.take(), (Request{Op::kPutSignal, put.route, 17, put.bytes, put.from, put.to}));
  EXPECT_EQ(consumer.take(), (Request{Op::kFlush, 5, static_cast<std::uint32_t>(FlushScope::kAllPeers), 0, 0, 0}));
}

TYPED_TEST(OneRing, AFailureReachesThoseBehindItAndNobodyElse) {
  TestRing<TypeParam> memory(2);
  Producer<TypeParam> producer(memory.ring());
  Consumer<TypeParam> consumer(memory.ring());
  const auto good = producer.put(put_number(0));
  const auto bad = producer.put(put_number(1));
  consumer.fail_behind(1, Status::kRemoteAccess);
  EXPECT_EQ(producer.wait(good), Status::kOk);
  EXPECT_EQ(producer.wait(bad), Status::kRemoteAccess);
  EXPECT_EQ(producer.put(put_number(2)).status, Status::kRemoteAccess)
      << "a full ring whose worker has failed says why";
}

TYPED_TEST(OneRing, TheNextProducerGoesOnWhereTheLastOneStopped) {
  TestRing<TypeParam> memory(8);
  Consumer<TypeParam> consumer(memory.ring());
  for (std::uint64_t i = 0; i < 5; ++i) {
    Producer<TypeParam> producer(memory.ring());
    EXPECT_EQ(producer.put(put_number(i)).end, i + 1);
  }
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(consumer.take(), request_number(i));
}

}  // namespace
}  // namespace marrow::proxy::testing
