// SPDX-License-Identifier: Apache-2.0
// Rules of the transport that no other test pins: windows of reads and atomics at both ends, sequence numbers across
// their wrap, the pause and the budget of retries. docs/software-nic.md has the whole list.
#include <gmock/gmock.h>

#include "cx7/hca/timing.h"
#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using wire::Syndrome;

void read(Side& from, const Side& at, std::uint32_t bytes = 8) {
  from.put(wire::write_wqe(from.next(), at.remote(), from.local(), bytes, wire::Opcode::kRead));
}

TEST(ReadWindow, ARequesterWithoutOneIssuesNoReads) {
  auto attributes = kUsual;
  attributes.initiator_reads = 0;
  TwoSides nic(Checking::kStrict, attributes);
  read(nic.a, nic.b);
  nic.a.announce();
  nic.run();
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, Syndrome::kLocalQpOperation);
}

// max_rd_atomic of one end above max_dest_rd_atomic of the other: nothing checks it when they connect.
TEST(ReadWindow, MoreAtOnceThanTheResponderKeepsIsAnInvalidRequest) {
  auto attributes = kUsual;
  attributes.responder_reads = 2;
  TwoSides nic(Checking::kStrict, attributes);
  for (int k = 0; k < 3; ++k) read(nic.a, nic.b);
  nic.a.announce();
  nic.run();
  for (int k = 0; k < 2; ++k) {
    const auto* good = nic.a.poll();
    ASSERT_NE(good, nullptr);
    EXPECT_FALSE(good->is_error());
  }
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, Syndrome::kRemoteInvalidRequest);
  EXPECT_EQ(nic.b.qp->state, QpState::kError);
}

TEST(ReadWindow, AResponderThatKeepsNoneRefusesTheFirst) {
  auto attributes = kUsual;
  attributes.responder_reads = 0;
  TwoSides nic(Checking::kStrict, attributes);
  read(nic.a, nic.b);
  nic.a.announce();
  nic.run();
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, Syndrome::kRemoteInvalidRequest);
}

TEST(Psn, MessagesCrossTheWrapOfTheirNumbers) {
  auto attributes = kUsual;
  attributes.send_psn = attributes.recv_psn = 0xfffffd;
  TwoSides nic(Checking::kStrict, attributes);
  std::memset(nic.a.buffer.data, 0x3d, 8192);
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8192));  // 8 packets
  read(nic.a, nic.b, 4096);
  nic.a.announce();
  nic.run();
  for (int k = 0; k < 2; ++k) {
    const auto* cqe = nic.a.poll();
    ASSERT_NE(cqe, nullptr);
    EXPECT_FALSE(cqe->is_error());
  }
  EXPECT_EQ(std::memcmp(nic.b.buffer.data, nic.a.buffer.data, 8192), 0);
  EXPECT_EQ(nic.b.qp->responder.expected_psn, (0xfffffdu + 12) & 0xffffff);
}

TEST(ReceiverNotReady, PausesAsLongAsTheReceiversTimerSays) {
  EXPECT_EQ(rnr_pause(0), microseconds(655'360));
  EXPECT_EQ(rnr_pause(1), microseconds(10));
  EXPECT_EQ(rnr_pause(25), microseconds(61'440));
  EXPECT_EQ(rnr_pause(31), microseconds(491'520));
  auto attributes = kUsual;
  attributes.min_rnr_nak = 20;  // 10.24 ms
  TwoSides nic(Checking::kStrict, attributes);
  nic.a.put(wire::send_wqe(nic.a.next(), nic.a.local(), 8));
  nic.a.announce();
  nic.run_for(milliseconds(9));
  EXPECT_EQ(nic.b.device.counters.rnr_naks_sent, 1u);
  nic.run_for(milliseconds(4));
  EXPECT_EQ(nic.b.device.counters.rnr_naks_sent, 2u);
}

// (retry count + 1) x 4.096 us x 2^16: firmware takes a smaller exponent for 16.
TEST(Retries, EndWithinTheirBudgetAndNotBefore) {
  auto attributes = kUsual;
  attributes.retry_count = 3;
  attributes.ack_timeout = 1;
  TwoSides nic(Checking::kStrict, attributes);
  nic.a.qp->attributes.remote_device = kNoDevice;
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  nic.a.announce();
  const Time each{std::int64_t{4096} << 16};
  nic.run_for(each * 4 - milliseconds(2));
  EXPECT_EQ(nic.a.poll(), nullptr);
  nic.run_for(milliseconds(8));
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, Syndrome::kRetryExceeded);
  EXPECT_EQ(nic.a.device.counters.timeouts, 4u);
}

}  // namespace
}  // namespace marrow::cx7::test
