// SPDX-License-Identifier: Apache-2.0
// Faults on a link, seen by who receives: each does what its name says, as often as asked, and the same again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "cx7/fabric/fabric.h"
#include "cx7/fabric/fresh_domain.h"

namespace marrow::cx7 {
namespace {

using Time = std::chrono::nanoseconds;
using std::chrono::milliseconds;

/// A process that sends to itself; time is what the test says.
struct Loop {
  explicit Loop(std::string_view faults) : fabric(fresh_domain(), {.faults = parse_faults(faults)}) {}

  bool send(std::uint32_t psn, PacketOpcode opcode = PacketOpcode::kSendOnly) {
    const Reservation room = fabric.reserve(fabric.slot(), 8);
    if (room.state != Reservation::State::kRoom) return false;
    room.packet->opcode = opcode;
    room.packet->psn = psn;
    room.packet->payload_bytes = 8;
    fabric.commit(fabric.slot());
    return true;
  }
  std::vector<std::uint32_t> receive() {
    std::vector<std::uint32_t> psns;
    fabric.deliver(1000, now, [&](const Packet& packet) { psns.push_back(packet.psn); });
    return psns;
  }
  /// Sends `count`, one a microsecond, and says what came.
  std::vector<std::uint32_t> run(std::uint32_t count, PacketOpcode opcode = PacketOpcode::kSendOnly) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t psn = 0; psn < count; ++psn) {
      send(psn, opcode);
      now += std::chrono::microseconds(1);
      const auto more = receive();
      all.insert(all.end(), more.begin(), more.end());
    }
    now += milliseconds(100);
    const auto rest = receive();
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }

  Time now = milliseconds(1);
  Fabric fabric;
};

constexpr std::uint32_t kMany = 20000;

bool is_about(std::uint64_t count, std::uint64_t wanted) {
  return count > wanted * 8 / 10 && count < wanted * 12 / 10;
}

TEST(FaultGate, LosesAsManyAsAskedAndTheSameAgain) {
  Loop a("seed 5; loss rate=10%");
  Loop b("seed 5; loss rate=10%");
  Loop c("seed 6; loss rate=10%");
  const auto came = a.run(kMany);
  EXPECT_TRUE(is_about(kMany - came.size(), kMany / 10)) << came.size();
  EXPECT_EQ(a.fabric.counters().faults_lost, kMany - came.size());
  EXPECT_TRUE(std::is_sorted(came.begin(), came.end()));
  EXPECT_EQ(came, b.run(kMany)) << "the seed decides";
  EXPECT_NE(came, c.run(kMany));
}

TEST(FaultGate, MeetsRequestsOrAnswersAlone) {
  Loop requests("loss rate=100% of=requests");
  EXPECT_TRUE(requests.run(10).empty());
  EXPECT_EQ(requests.run(10, PacketOpcode::kAcknowledge).size(), 10u);
  Loop answers("loss rate=100% of=answers");
  EXPECT_EQ(answers.run(10).size(), 10u);
  EXPECT_TRUE(answers.run(10, PacketOpcode::kAcknowledge).empty());
}

TEST(FaultGate, DoublesPackets) {
  Loop loop("duplicate rate=10%");
  const auto came = loop.run(kMany);
  EXPECT_TRUE(is_about(came.size() - kMany, kMany / 10));
  EXPECT_EQ(std::set<std::uint32_t>(came.begin(), came.end()).size(), kMany) << "none is missing";
}

TEST(FaultGate, LetsLaterPacketsPass) {
  Loop loop("reorder rate=10% depth=3");
  const auto came = loop.run(kMany);
  ASSERT_EQ(came.size(), kMany) << "nothing is lost";
  std::uint32_t overtaken = 0;
  for (std::size_t i = 1; i < came.size(); ++i) overtaken += came[i] < came[i - 1] ? 1 : 0;
  EXPECT_GT(overtaken, kMany / 20);
  EXPECT_TRUE(std::is_permutation(came.begin(), came.end(), loop.run(kMany).begin()));
}

TEST(FaultGate, DelaysForAsLongAsAsked) {
  Loop loop("delay rate=100% time=5ms");
  ASSERT_TRUE(loop.send(1));
  EXPECT_TRUE(loop.receive().empty());
  loop.now += milliseconds(4);
  EXPECT_TRUE(loop.receive().empty());
  loop.now += milliseconds(1);
  EXPECT_EQ(loop.receive(), std::vector<std::uint32_t>{1});
}

TEST(FaultGate, ASlowResponderTakesRequestsLateAndInOrder) {
  Loop loop("slow-responder rate=100% time=5ms");
  loop.receive();
  ASSERT_TRUE(loop.send(1) && loop.send(2) && loop.send(3, PacketOpcode::kAcknowledge));
  EXPECT_EQ(loop.receive(), std::vector<std::uint32_t>{3}) << "answers are not the responder's to take";
  loop.now += milliseconds(4);
  ASSERT_TRUE(loop.send(4));
  EXPECT_TRUE(loop.receive().empty());
  loop.now += milliseconds(1);
  EXPECT_EQ(loop.receive(), (std::vector<std::uint32_t>{1, 2, 4}));
  EXPECT_EQ(loop.fabric.counters().faults_slow, 3u);
}

TEST(FaultGate, DamagedPacketsDoNotArrive) {
  Loop loop("corrupt rate=50%");
  const auto came = loop.run(kMany);
  const auto damaged = loop.fabric.counters().faults_corrupted;
  EXPECT_TRUE(is_about(damaged, kMany / 2));
  // A flipped bit in the one byte that the ICRC leaves out (1 of 20) does no harm.
  const auto harmless = damaged - (kMany - came.size());
  EXPECT_GT(harmless, damaged / 40);
  EXPECT_LT(harmless, damaged / 10);
}

TEST(FaultGate, ABlackHoleEndsWhenItShould) {
  Loop loop("black-hole at=10ms for=10ms");
  loop.receive();  // time is counted from the first look
  EXPECT_EQ(loop.run(3).size(), 3u);
  loop.now = milliseconds(1) + milliseconds(15);
  loop.send(7);
  EXPECT_TRUE(loop.receive().empty());
  EXPECT_TRUE(loop.fabric.link_is_up());
  loop.now += milliseconds(10);
  loop.send(8);
  EXPECT_EQ(loop.receive(), std::vector<std::uint32_t>{8});
}

TEST(FaultGate, NothingLeavesWhileTheLinkIsDown) {
  Loop loop("down at=10ms for=10ms");
  loop.receive();
  EXPECT_TRUE(loop.fabric.link_is_up());
  ASSERT_TRUE(loop.send(1));
  loop.now += milliseconds(12);
  EXPECT_TRUE(loop.receive().empty()) << "what was on its way is lost";
  EXPECT_FALSE(loop.fabric.link_is_up());
  EXPECT_FALSE(loop.send(2));
  loop.now += milliseconds(10);
  loop.receive();
  EXPECT_TRUE(loop.fabric.link_is_up());
  ASSERT_TRUE(loop.send(3));
  EXPECT_EQ(loop.receive(), std::vector<std::uint32_t>{3});
}

}  // namespace
}  // namespace marrow::cx7
