// SPDX-License-Identifier: Apache-2.0
// The host half of a forwarded doorbell, step by step.
#include "marrow/gda/host_ringer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gda/fake_nic.h"
#include "marrow/gda/send_queue.h"

namespace marrow::gda {
namespace {

using P = Forwarded<GpuFence>;

struct Forwarding {
  FakeNic nic;
  std::uint64_t word;
  HostRinger ringer;

  explicit Forwarding(std::uint64_t start) : nic({.start = start}), word(start) { ringer.add(nic.qp(), word); }
  Qp lanes_qp() {
    Qp qp = nic.qp();
    qp.doorbell = &word;
    qp.doorbell_mapping = DoorbellMapping::kForwarded;
    return qp;
  }
};

TEST(HostRinger, AWordThatMovesTooFarIsNotRung) {
  Forwarding f(0);
  f.word = 65;  // the ring has 64
  EXPECT_EQ(f.ringer.step(), 0u);
  EXPECT_EQ(f.ringer.refused(), 1u);
  f.word = 1;
  EXPECT_EQ(f.ringer.step(), 0u) << "nor whatever follows: nobody knows what was meant";
  EXPECT_EQ(f.ringer.refused(), 1u);
  EXPECT_EQ(f.nic.step(), 0u);
}

TEST(HostRinger, NothingMovesUntilTheHostLooks) {
  Forwarding f(65'535);
  std::uint64_t to = 0;
  SendQueue<P, CountingProbe> sq{f.lanes_qp()};
  EXPECT_EQ(f.ringer.step(), 0u);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const auto slots = sq.reserve(Solo{}, 1);
    sq.write_value(slots[0], f.nic.remote(to), i);
    static_cast<void>(sq.submit(Solo{}, slots));
  }
  EXPECT_EQ(f.nic.step(), 0u);
  EXPECT_EQ(f.ringer.step(), 1u) << "one ring for three";
  EXPECT_EQ(f.ringer.step(), 0u);
  EXPECT_EQ(f.nic.step(), 3u);
  EXPECT_TRUE(sq.drain(Solo{}).ok());
  EXPECT_EQ(to, 3u);
  EXPECT_EQ(sq.probe().counts.dbrecs, 0u) << "the record is the host's";
  EXPECT_EQ(sq.probe().counts.doorbells, 3u);
  EXPECT_THAT(f.nic.complaints(), testing::IsEmpty());
}

TEST(HostRinger, StopsAfterALastLook) {
  Forwarding f(0);
  f.ringer.start(HostRinger::Idle::kSpin);
  std::atomic_ref(f.word).store(1);
  f.ringer.stop();
  EXPECT_EQ(f.ringer.rung(), 1u);
}

}  // namespace
}  // namespace marrow::gda
