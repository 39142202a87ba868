// SPDX-License-Identifier: Apache-2.0
// Links as the engine sees them. Two Fabrics in one process stand for two processes wherever nobody has to die.
#include "cx7/fabric/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "cx7/fabric/fresh_domain.h"
#include "cx7/fabric/rendezvous.h"
#include "cx7/fabric/ring_memory.h"
#include "util/clock.h"
#include "util/error.h"

namespace marrow::cx7 {
namespace {

using State = Reservation::State;
using std::chrono::milliseconds;

State send(Fabric& from, unsigned to, std::uint32_t psn) {
  const Reservation room = from.reserve(to, 0);
  if (room.state != State::kRoom) return room.state;
  room.packet->psn = psn;
  from.commit(to);
  return room.state;
}

std::vector<std::uint32_t> receive(Fabric& at) {
  std::vector<std::uint32_t> psns;
  at.maintain();
  at.deliver(1000, {}, [&](const Packet& packet) { psns.push_back(packet.psn); });
  return psns;
}

class FabricTest : public ::testing::Test {
 protected:
  std::string domain_ = fresh_domain();
};

TEST_F(FabricTest, RefusesADomainTooLongForASocketName) {
  EXPECT_THROW(Fabric(std::string(100, 'x')), util::Error);
}

TEST_F(FabricTest, RefusesWhenAllSlotsAreTaken) {
  const rlimit more{4096, 4096};
  rlimit now{};
  ::getrlimit(RLIMIT_NOFILE, &now);
  if (now.rlim_cur < 600 && ::setrlimit(RLIMIT_NOFILE, &more) != 0) GTEST_SKIP() << "too few descriptors";
  std::vector<std::unique_ptr<Rendezvous>> holders;
  for (unsigned i = 0; i < Fabric::kMaxSlots; ++i) {
    holders.push_back(std::make_unique<Rendezvous>(domain_));
    ASSERT_EQ(holders.back()->claim(Fabric::kMaxSlots), i);
  }
  try {
    const Fabric fabric(domain_);
    FAIL() << "a 256th process got slot " << fabric.slot();
  } catch (const util::Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("all 255 slots"));
  }
  holders[17].reset();
  EXPECT_EQ(Fabric(domain_).slot(), 17u) << "a freed slot is taken again";
}

TEST_F(FabricTest, SaysLostWhereNobodyListens) {
  Fabric fabric(domain_);
  EXPECT_EQ(fabric.reserve(fabric.slot() + 1, 0).state, State::kLost);
  EXPECT_EQ(fabric.reserve(Fabric::kMaxSlots, 0).state, State::kLost);
  EXPECT_EQ(fabric.reserve(1u << 20, 0).state, State::kLost);
}

TEST_F(FabricTest, KeepsDomainsApart) {
  Fabric one(domain_);
  Fabric other(fresh_domain());
  EXPECT_EQ(one.slot(), 0u);
  EXPECT_EQ(other.slot(), 0u);
  EXPECT_EQ(one.reserve(1, 0).state, State::kLost);
}

TEST_F(FabricTest, DeliversItsOwnPacketsInOrder) {
  Fabric fabric(domain_);
  for (std::uint32_t psn = 0; psn < 5; ++psn) ASSERT_EQ(send(fabric, fabric.slot(), psn), State::kRoom);
  EXPECT_THAT(receive(fabric), ::testing::ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(fabric.deliver(10, {}, [](const Packet&) { FAIL(); }), 0u);
}

TEST_F(FabricTest, DeliversNoMoreThanTheBudget) {
  Fabric fabric(domain_);
  for (std::uint32_t psn = 0; psn < 5; ++psn) ASSERT_EQ(send(fabric, fabric.slot(), psn), State::kRoom);
  EXPECT_EQ(fabric.deliver(3, {}, [](const Packet&) {}), 3u);
  EXPECT_EQ(fabric.deliver(3, {}, [](const Packet&) {}), 2u);
}

TEST_F(FabricTest, LetsTheSinkSend) {
  Fabric fabric(domain_);
  ASSERT_EQ(send(fabric, fabric.slot(), 1), State::kRoom);
  unsigned hops = 0;
  fabric.deliver(10, {}, [&](const Packet& packet) {
    ++hops;
    if (packet.psn < 4) {
      ASSERT_EQ(send(fabric, fabric.slot(), packet.psn + 1), State::kRoom);
    }
  });
  EXPECT_EQ(hops, 4u);
}

TEST_F(FabricTest, CarriesPayloadBothWaysBetweenTwoSlots) {
  Fabric a(domain_);
  Fabric b(domain_);
  const char text[] = "one cache line is enough for most packets, but this one takes two of them";
  const Reservation room = a.reserve(b.slot(), sizeof text);
  ASSERT_EQ(room.state, State::kRoom);
  room.packet->payload_bytes = sizeof text;
  std::memcpy(room.packet->payload(), text, sizeof text);
  a.commit(b.slot());
  b.maintain();
  EXPECT_EQ(b.deliver(10, {},
                      [&](const Packet& packet) {
                        EXPECT_STREQ(reinterpret_cast<const char*>(packet.payload()), text);
                        EXPECT_EQ(send(b, a.slot(), 42), State::kRoom);
                      }),
            1u);
  EXPECT_THAT(receive(a), ::testing::ElementsAre(42));
}

TEST_F(FabricTest, GivesEveryLinkItsTurn) {
  Fabric a(domain_);
  Fabric b(domain_);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(send(a, a.slot(), 1), State::kRoom);
  ASSERT_EQ(send(b, a.slot(), 2), State::kRoom);
  a.maintain();
  bool foreign_seen = false;
  for (int step = 0; step < 2; ++step) {
    a.deliver(10, {}, [&](const Packet& packet) { foreign_seen = foreign_seen || packet.psn == 2; });
  }
  EXPECT_TRUE(foreign_seen);
}

TEST_F(FabricTest, SaysFullUntilThePeerTakes) {
  Fabric a(domain_);
  Fabric b(domain_);
  std::uint32_t sent = 0;
  while (send(a, b.slot(), sent) == State::kRoom) ++sent;
  EXPECT_EQ(sent, kPeerRingBytes / 64);
  EXPECT_EQ(a.reserve(b.slot(), 0).state, State::kFull);
  b.maintain();
  EXPECT_EQ(b.deliver(1, {}, [](const Packet&) {}), 1u);
  EXPECT_EQ(a.reserve(b.slot(), 0).state, State::kRoom);
}

TEST_F(FabricTest, DrainsWhatADeadPeerHadSentThenLosesIt) {
  Fabric a(domain_);
  auto b = std::make_unique<Fabric>(domain_);
  const unsigned slot = b->slot();
  ASSERT_EQ(send(*b, a.slot(), 1), State::kRoom);
  ASSERT_EQ(send(a, slot, 9), State::kRoom);
  b.reset();
  EXPECT_THAT(receive(a), ::testing::ElementsAre(1));
  EXPECT_EQ(a.reserve(slot, 0).state, State::kLost);
}

TEST_F(FabricTest, FindsTheNextOwnerOfALostSlot) {
  Fabric a(domain_);
  EXPECT_EQ(send(a, 1, 0), State::kLost);
  Fabric b(domain_);
  ASSERT_EQ(b.slot(), 1u);
  EXPECT_EQ(send(a, 1, 0), State::kLost) << "not tried again at once";
  std::this_thread::sleep_for(milliseconds(110));
  a.maintain();
  EXPECT_EQ(send(a, 1, 7), State::kRoom);
  EXPECT_THAT(receive(b), ::testing::ElementsAre(7));
}

/// A peer that connects properly and then writes what it likes.
class RoguePeer {
 public:
  RoguePeer(const std::string& domain, unsigned victim) : rendezvous_(domain) {
    rendezvous_.claim(Fabric::kMaxSlots);
    memory_.emplace(*RingMemory::make_shared(ring_fd_));
    EXPECT_EQ(rendezvous_.connect(victim, ring_fd_.get(), socket_), Rendezvous::Outcome::kDone);
  }
  RingView view() { return memory_->view(); }
  [[nodiscard]] bool was_hung_up_on() const {
    char byte = 0;
    return ::read(socket_.get(), &byte, 1) == 0;
  }

 private:
  Rendezvous rendezvous_;
  util::UniqueFd ring_fd_;
  util::UniqueFd socket_;
  std::optional<RingMemory> memory_;
};

TEST_F(FabricTest, HangsUpOnAPeerThatWritesGarbage) {
  Fabric fabric(domain_);
  RoguePeer rogue(domain_, fabric.slot());
  fabric.maintain();
  std::memset(rogue.view().data, 0x77, 4096);
  rogue.view().control->head.store(4096);
  EXPECT_EQ(fabric.deliver(10, {}, [](const Packet&) { FAIL() << "garbage was delivered"; }), 0u);
  EXPECT_FALSE(rogue.was_hung_up_on());
  fabric.maintain();
  EXPECT_TRUE(rogue.was_hung_up_on());
}

TEST_F(FabricTest, RefusesAMemoryFileThatCouldShrink) {
  util::UniqueFd fd(::memfd_create("loose", MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(fd.get(), kRingDataOffset + kPeerRingBytes), 0);
  EXPECT_FALSE(RingMemory::map_shared(fd.get()).has_value());
  util::UniqueFd good;
  EXPECT_TRUE(RingMemory::make_shared(good).has_value());
  EXPECT_NE(::ftruncate(good.get(), 0), 0);
  EXPECT_TRUE(RingMemory::map_shared(good.get()).has_value());
}

TEST_F(FabricTest, DoesNotSleepOverAPacketOrAWakeUp) {
  Fabric a(domain_);
  Fabric b(domain_);
  const auto start = util::now();
  ASSERT_EQ(send(a, a.slot(), 1), State::kRoom);
  a.sleep(std::chrono::seconds(20));
  receive(a);
  ASSERT_EQ(send(b, a.slot(), 1), State::kRoom);
  a.sleep(std::chrono::seconds(20));  // the connection itself is an event
  a.sleep(std::chrono::seconds(20));  // and then its packet
  receive(a);
  a.wake();
  a.sleep(std::chrono::seconds(20));
  EXPECT_LT(util::now() - start, std::chrono::seconds(10));
}

TEST_F(FabricTest, SleepsItsTimeOutWhenNothingHappens) {
  Fabric fabric(domain_);
  fabric.wake();
  fabric.sleep(std::chrono::seconds(20));
  const auto start = util::now();
  fabric.sleep(milliseconds(20));
  EXPECT_GE(util::now() - start, milliseconds(20)) << "one wake() ends one sleep()";
}

TEST_F(FabricTest, IsWokenFromAnotherThread) {
  Fabric fabric(domain_);
  std::jthread waker([&] {
    std::this_thread::sleep_for(milliseconds(30));
    fabric.wake();
  });
  const auto start = util::now();
  fabric.sleep(std::chrono::seconds(20));
  EXPECT_LT(util::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace marrow::cx7
