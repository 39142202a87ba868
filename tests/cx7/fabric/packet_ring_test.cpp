// SPDX-License-Identifier: Apache-2.0
// The ring keeps every packet whole and in order at its corners, and never trusts what the other side wrote.
#include "cx7/fabric/packet_ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>

namespace marrow::cx7 {
namespace {

constexpr std::uint32_t kBytes = 16 * 1024;  // three records of the largest size and a rest

class PacketRing : public ::testing::Test {
 protected:
  struct alignas(64) Memory {
    RingControl control;
    std::array<std::byte, kBytes> data{};
  };

  /// Puts a packet whose payload bytes all say `mark`; false when the ring is full.
  bool put(std::uint32_t payload_bytes, std::uint8_t mark) {
    Packet* const packet = producer_.reserve(payload_bytes);
    if (packet == nullptr) return false;
    packet->payload_bytes = payload_bytes;
    packet->psn = mark;
    std::memset(packet->payload(), mark, payload_bytes);
    producer_.commit();
    return true;
  }

  /// Takes a packet and checks it.
  void expect(std::uint32_t payload_bytes, std::uint8_t mark) {
    const Packet* const packet = consumer_.peek();
    ASSERT_NE(packet, nullptr);
    EXPECT_EQ(packet->payload_bytes, payload_bytes);
    EXPECT_EQ(packet->psn, mark);
    for (std::uint32_t i = 0; i < payload_bytes; ++i) ASSERT_EQ(packet->payload()[i], std::byte{mark}) << i;
    consumer_.release();
  }

  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  RingView view_{&memory_->control, memory_->data.data(), kBytes};
  RingProducer producer_{view_};
  RingConsumer consumer_{view_};
};

TEST_F(PacketRing, RefusesWhenFullAndTakesAgainAfterARelease) {
  unsigned count = 0;
  while (put(0, static_cast<std::uint8_t>(count))) ++count;
  EXPECT_EQ(count, kBytes / 64);
  EXPECT_FALSE(producer_.corrupt());
  expect(0, 0);
  EXPECT_TRUE(put(0, 7));
  EXPECT_FALSE(put(0, 8));
}

TEST_F(PacketRing, GivesNothingBeforeACommit) {
  EXPECT_EQ(consumer_.peek(), nullptr);
  ASSERT_NE(producer_.reserve(100), nullptr);
  EXPECT_EQ(consumer_.peek(), nullptr);
}

TEST_F(PacketRing, DropsAReservationThatWasNotCommitted) {
  ASSERT_NE(producer_.reserve(4096), nullptr);
  ASSERT_TRUE(put(8, 1));
  expect(8, 1);
  EXPECT_EQ(consumer_.peek(), nullptr);
}

TEST_F(PacketRing, GivesAFreshHeaderEachTime) {
  Packet* packet = producer_.reserve(0);
  packet->rkey = 0x1234;
  packet = producer_.reserve(0);
  EXPECT_EQ(packet->rkey, 0u);
}

TEST_F(PacketRing, PublishesOnlyWhatTheCommittedPacketSays) {
  Packet* const packet = producer_.reserve(kMaxPayload);
  packet->payload_bytes = 1;
  producer_.commit();
  EXPECT_EQ(memory_->control.head.load(), 128u);
  ASSERT_TRUE(put(3, 9));
  ASSERT_NE(consumer_.peek(), nullptr);
  consumer_.release();
  expect(3, 9);
}

TEST_F(PacketRing, KeepsALargestRecordContiguousAcrossTheEnd) {
  for (std::uint8_t i = 0; i < 3; ++i) ASSERT_TRUE(put(kMaxPayload, i));
  EXPECT_FALSE(put(kMaxPayload, 3)) << "the rest at the end is too small, and the start is taken";
  expect(kMaxPayload, 0);
  EXPECT_TRUE(put(kMaxPayload, 3)) << "goes to the start, behind a skip marker";
  for (std::uint8_t i = 1; i < 4; ++i) expect(kMaxPayload, i);
  EXPECT_EQ(consumer_.peek(), nullptr);
  EXPECT_FALSE(consumer_.corrupt());
}

TEST_F(PacketRing, StaysInOrderOverManyLapsOfMixedSizes) {
  std::uint32_t sent = 0;
  std::uint32_t taken = 0;
  const auto size_of = [](std::uint32_t n) { return n * 2654435761u % (kMaxPayload + 1); };
  while (taken < 20'000) {
    while (put(size_of(sent), static_cast<std::uint8_t>(sent))) ++sent;
    const Packet* packet = nullptr;
    while ((packet = consumer_.peek()) != nullptr) {
      ASSERT_EQ(packet->payload_bytes, size_of(taken));
      ASSERT_EQ(packet->psn, static_cast<std::uint8_t>(taken));
      consumer_.release();
      ++taken;
    }
    ASSERT_FALSE(consumer_.corrupt());
  }
}

TEST_F(PacketRing, CarriesPacketsBetweenTwoThreads) {
  constexpr std::uint32_t kPackets = 50'000;
  std::jthread sender([this] {
    for (std::uint32_t i = 0; i < kPackets;) {
      if (put(i % 300, static_cast<std::uint8_t>(i))) ++i;
    }
  });
  for (std::uint32_t i = 0; i < kPackets;) {
    if (consumer_.peek() == nullptr) continue;
    expect(i % 300, static_cast<std::uint8_t>(i));
    ++i;
  }
}

TEST_F(PacketRing, AnnouncesSleepOnceAndOnlyToAnEmptyRing) {
  EXPECT_FALSE(producer_.must_wake());
  EXPECT_TRUE(consumer_.announce_sleep());
  ASSERT_TRUE(put(0, 1));
  EXPECT_TRUE(producer_.must_wake());
  EXPECT_FALSE(producer_.must_wake());
  EXPECT_FALSE(consumer_.announce_sleep()) << "a packet is there: sleeping would miss it";
}

struct Garbage {
  const char* what;
  std::uint32_t payload_bytes;
  std::uint64_t head;
};

class CorruptRing : public PacketRing, public ::testing::WithParamInterface<Garbage> {};

TEST_P(CorruptRing, IsClosedToTheConsumerWithoutReadingOutside) {
  ASSERT_NE(producer_.reserve(0), nullptr);
  std::memcpy(memory_->data.data(), &GetParam().payload_bytes, sizeof(std::uint32_t));
  memory_->control.head.store(GetParam().head);
  EXPECT_EQ(consumer_.peek(), nullptr);
  EXPECT_TRUE(consumer_.corrupt());
  memory_->control.head.store(64);
  EXPECT_EQ(consumer_.peek(), nullptr) << "stays closed";
}

INSTANTIATE_TEST_SUITE_P(Words, CorruptRing,
                         ::testing::Values(Garbage{"payload beyond the largest", kMaxPayload + 1, 8192},
                                           Garbage{"payload of almost 4 GiB", 0xfffffffe, 8192},
                                           Garbage{"record longer than what was published", 65, 64},
                                           Garbage{"skip longer than what was published", kSkipMarker, 64},
                                           Garbage{"head more than a lap ahead", 0, kBytes + 64},
                                           Garbage{"head behind the tail", 0, ~std::uint64_t{63}},
                                           Garbage{"head off the grid", 0, 65}));

TEST_F(PacketRing, IsClosedToTheProducerWhenTheTailIsAhead) {
  while (put(0, 0)) {
  }
  memory_->control.tail.store(kBytes + 64);
  EXPECT_EQ(producer_.reserve(0), nullptr);
  EXPECT_TRUE(producer_.corrupt());
}

}  // namespace
}  // namespace marrow::cx7
