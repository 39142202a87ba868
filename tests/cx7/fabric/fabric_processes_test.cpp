// SPDX-License-Identifier: Apache-2.0
// Links between processes that run, sleep and get killed. The child is forked before anything of the fabric exists.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cx7/fabric/fabric.h"
#include "util/clock.h"

namespace marrow::cx7 {
namespace {

using State = Reservation::State;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::uint32_t kLastPsn = 0xffffff;

/// Sends every packet back to slot 0, sleeping whenever there is none; ends with the packet kLastPsn.
[[noreturn]] void echo(const std::string& domain) {
  Fabric fabric(domain);
  for (bool last = false; !last;) {
    fabric.deliver(64, {}, [&](const Packet& packet) {
      last = last || packet.psn == kLastPsn;
      const Reservation room = fabric.reserve(0, packet.payload_bytes);
      if (room.state != State::kRoom) return;
      room.packet->psn = packet.psn;
      room.packet->payload_bytes = packet.payload_bytes;
      std::copy_n(packet.payload(), packet.payload_bytes, room.packet->payload());
      fabric.commit(0);
    });
    if (!last) fabric.sleep(seconds(1));
  }
  ::_exit(0);
}

class FabricProcesses : public ::testing::Test {
 protected:
  void SetUp() override {
    start_gate();
    fabric_ = std::make_unique<Fabric>(domain_);
    ASSERT_EQ(fabric_->slot(), 0u);
    ASSERT_EQ(::write(gate_[1], "g", 1), 1);
    ::close(gate_[1]);
  }
  void TearDown() override {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  /// The child waits until slot 0 is ours.
  void start_gate() {
    ASSERT_EQ(::pipe(gate_), 0);
    child_ = ::fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0) {
      char byte = 0;
      if (::read(gate_[0], &byte, 1) == 1) echo(domain_);
      ::_exit(1);
    }
    ::close(gate_[0]);
  }

  /// Sends once the peer is there, waiting for at most 5 s.
  bool send(std::uint32_t psn, std::uint32_t payload_bytes) {
    for (const auto end = util::now() + seconds(5); util::now() < end; fabric_->maintain()) {
      const Reservation room = fabric_->reserve(1, payload_bytes);
      if (room.state != State::kRoom) continue;
      room.packet->psn = psn;
      room.packet->payload_bytes = payload_bytes;
      std::fill_n(room.packet->payload(), payload_bytes, std::byte(psn));
      fabric_->commit(1);
      return true;
    }
    return false;
  }

  /// The PSN of the next packet, or all ones after 5 s.
  std::uint32_t receive() {
    std::uint32_t psn = ~0u;
    auto maintain_at = util::now() + milliseconds(1);
    const auto end = maintain_at + seconds(5);
    while (psn == ~0u && util::now() < end) {
      fabric_->deliver(1, {}, [&](const Packet& packet) {
        psn = packet.psn;
        for (std::uint32_t i = 0; i < packet.payload_bytes; ++i) EXPECT_EQ(packet.payload()[i], std::byte(psn));
      });
      if (util::now() < maintain_at) continue;
      fabric_->maintain();
      maintain_at = util::now() + milliseconds(1);
    }
    return psn;
  }

  std::string domain_ = "processes" + std::to_string(::getpid());
  int gate_[2] = {-1, -1};
  pid_t child_ = -1;
  std::unique_ptr<Fabric> fabric_;
};

TEST_F(FabricProcesses, CarryEverySizeThereAndBack) {
  for (std::uint32_t i = 0; i < 2000; ++i) {
    ASSERT_TRUE(send(i, i * 37 % (kMaxPayload + 1)));
    ASSERT_EQ(receive(), i);
  }
  ASSERT_TRUE(send(kLastPsn, 0));
  int status = -1;
  ASSERT_EQ(::waitpid(child_, &status, 0), child_);
  child_ = -1;
  EXPECT_EQ(status, 0);
}

TEST_F(FabricProcesses, LoseAKilledPeerWithinASecond) {
  ASSERT_TRUE(send(1, 8));
  ASSERT_EQ(receive(), 1u);
  ::kill(child_, SIGKILL);
  const auto start = util::now();
  State state = State::kRoom;
  while (state != State::kLost && util::now() - start < seconds(5)) {
    fabric_->sleep(milliseconds(10));
    state = fabric_->reserve(1, 8).state;
  }
  EXPECT_EQ(state, State::kLost);
  EXPECT_LT(util::now() - start, seconds(1));
}

TEST_F(FabricProcesses, WakeASleepingPeerInUnderThreeTenthsOfAMillisecond) {
  ASSERT_TRUE(send(0, 8));
  ASSERT_EQ(receive(), 0u);
  nanoseconds best = seconds(1);
  for (int attempt = 0; attempt < 5 && best >= std::chrono::microseconds(300); ++attempt) {
    std::vector<nanoseconds> round_trips;
    for (std::uint32_t i = 0; i < 101; ++i) {
      ::usleep(500);  // the peer is asleep again by then
      const auto start = util::now();
      ASSERT_TRUE(send(i, 8));
      ASSERT_EQ(receive(), i);
      round_trips.push_back(util::now() - start);
    }
    std::nth_element(round_trips.begin(), round_trips.begin() + 50, round_trips.end());
    best = std::min(best, round_trips[50]);
  }
  RecordProperty("median_ns", std::to_string(best.count()));
  EXPECT_LT(best, std::chrono::microseconds(300)) << "a wake-up and the way back, median of 101";
}

TEST_F(FabricProcesses, LeaveTheParentsLinksAloneAfterAFork) {
  ASSERT_TRUE(send(1, 8));
  ASSERT_EQ(receive(), 1u);
  const pid_t forked = ::fork();
  if (forked == 0) {
    fabric_.reset();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(forked, &status, 0), forked);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(send(2, 8));
  EXPECT_EQ(receive(), 2u);
}

}  // namespace
}  // namespace marrow::cx7
