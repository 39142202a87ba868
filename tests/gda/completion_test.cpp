// SPDX-License-Identifier: Apache-2.0
// Errors, stale CQEs and time-outs: nothing that failed or has not happened may pass for a completion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gda/fake_nic.h"
#include "gda/tested.h"
#include "marrow/gda/dump.h"

namespace marrow::gda {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class BothLayouts : public testing::TestWithParam<CqLayout> {};
INSTANTIATE_TEST_SUITE_P(Layouts, BothLayouts, testing::Values(CqLayout::kCollapsed, CqLayout::kRing),
                         [](const auto& p) { return p.param == CqLayout::kRing ? "Ring" : "Collapsed"; });

TEST_P(BothLayouts, EverySyndromeBecomesItsStatus) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    FakeNic nic({.layout = GetParam()});
    std::uint64_t to = 0;
    SendQueue<Tested<GpuFence>> sq{nic.qp()};
    nic.fail_at(0, static_cast<std::uint8_t>(byte), 0x88);
    const auto ticket = post(nic, sq, to, 1);
    nic.step();
    const auto result = sq.wait(kSolo, ticket);
    EXPECT_EQ(result.status, status_of(static_cast<wire::Syndrome>(byte)));
    EXPECT_NE(result.status, Status::kOk);
    EXPECT_EQ(result.syndrome, byte);
    EXPECT_EQ(result.vendor, 0x88);
    EXPECT_EQ(to, 0u);
  }
}

TEST_P(BothLayouts, AWrongRkeyIsThePeersRefusal) {
  FakeNic nic({.layout = GetParam()});
  std::uint64_t to = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  const auto slots = sq.reserve(kSolo, 1);
  sq.write_value(slots[0], {nic.remote(to).addr, 0xdead}, 1);
  const auto ticket = sq.submit(kSolo, slots);
  nic.step();
  EXPECT_EQ(sq.wait(kSolo, ticket).status, Status::kRemoteAccess);
  EXPECT_EQ(to, 0u);
}

// The flush comes after the root cause and, on a collapsed CQ, over it.
TEST_P(BothLayouts, ALateFlushDoesNotHideTheFirstError) {
  FakeNic nic({.layout = GetParam()});
  std::uint64_t to = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  nic.fail_at(1, 0x13, 0x88);
  const auto good = post(nic, sq, to, 1);
  const auto bad = post(nic, sq, to, 2);
  const auto flushed = post(nic, sq, to, 3);
  nic.step(2);
  const auto first = sq.wait(kSolo, bad);
  EXPECT_EQ(first.status, Status::kRemoteAccess);
  EXPECT_EQ(first.wqe_counter, 1);
  nic.step();
  const auto second = sq.wait(kSolo, flushed);
  EXPECT_EQ(second.status, Status::kRemoteAccess) << "the cause, not the flush";
  EXPECT_EQ(second.wqe_counter, 1);
  EXPECT_TRUE(sq.wait(kSolo, good).ok()) << "what completed before the failure stays completed";
  EXPECT_EQ(to, 1u);
  EXPECT_EQ(sq.reserve(kSolo, 1).status, Status::kRemoteAccess) << "no more work for a dead queue";
}

// Whoever goes on polling sees the flushes as new CQEs, and the first error as the error.
TEST_P(BothLayouts, PollingOnKeepsTheFirstError) {
  FakeNic nic({.layout = GetParam()});
  std::uint64_t to = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  nic.fail_at(0, 0x13, 0x88);
  static_cast<void>(post(nic, sq, to, 1));
  static_cast<void>(post(nic, sq, to, 2));
  CompletionQueue<Tested<GpuFence>> cq{nic.qp()};
  NoProbe probe;
  EXPECT_FALSE(cq.poll(nic.qp(), 2, Ticket{}, probe));
  for (int cqe = 0; cqe < 2; ++cqe) {
    nic.step(1);
    EXPECT_TRUE(cq.poll(nic.qp(), 2, Ticket{}, probe));
    EXPECT_EQ(cq.error().status, Status::kRemoteAccess);
    EXPECT_EQ(cq.error().vendor, 0x88);
  }
  EXPECT_EQ(cq.ci(), 0u);
}

TEST_P(BothLayouts, TheErrorOutlivesTheKernel) {
  FakeNic nic({.layout = GetParam()});
  std::uint64_t to = 0;
  nic.fail_at(0, 0x15, 0x81);
  {
    SendQueue<Tested<GpuFence>> sq{nic.qp()};
    const auto ticket = post(nic, sq, to, 1);
    nic.step();
    EXPECT_EQ(sq.wait(kSolo, ticket).status, Status::kRetryExceeded);
  }
  SendQueue<Tested<GpuFence>> next{nic.qp()};
  EXPECT_EQ(next.reserve(kSolo, 1).status, Status::kRetryExceeded);
}

// A counter that has gone past the ticket is no success when the CQE is a flush.
TEST(Completion, AFlushOverTheCauseIsStillAFailure) {
  FakeNic nic;
  std::uint64_t to = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  nic.fail_at(0, 0x13);
  const auto bad = post(nic, sq, to, 1);
  const auto next = post(nic, sq, to, 2);
  nic.step();  // cause and flush before the lane looks
  EXPECT_EQ(sq.wait(kSolo, bad).status, Status::kFlushed);
  EXPECT_EQ(sq.wait(kSolo, next).status, Status::kFlushed);
}

// An unsignalled WQE in the middle of a batch fails: its CQE comes although nobody asked for one.
TEST_P(BothLayouts, AnUnsignalledFailureEndsTheWait) {
  FakeNic nic({.layout = GetParam()});
  std::uint64_t to = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  nic.fail_at(3, 0x12, 0x8a);
  const auto ticket = post(nic, sq, to, 1, 8);
  nic.step(4);
  const auto result = sq.wait(kSolo, ticket);
  EXPECT_EQ(result.status, Status::kRemoteInvalidRequest);
  EXPECT_EQ(result.wqe_counter, 3);
}

TEST_P(BothLayouts, AFreshCqIsNoCompletion) {
  for (const std::uint8_t byte : {std::uint8_t{0xff}, std::uint8_t{0xf0}, std::uint8_t{0xf1}}) {
    FakeNic nic({.layout = GetParam(), .timeout_ns = 1'000'000});
    nic.fill_cq(byte);
    std::uint64_t to = 0;
    SendQueue<Tested<GpuFence>> sq{nic.qp()};
    EXPECT_EQ(sq.wait(kSolo, post(nic, sq, to, 1)).status, Status::kTimeout) << unsigned{byte};
  }
}

// The CQE of an earlier operation stays in the CQ: it must not complete a later one, at any distance.
TEST_P(BothLayouts, AStaleCqeIsNoCompletion) {
  for (const std::uint32_t before : {1u, 7u, 8u, 9u, 15u, 16u}) {
    FakeNic nic({.sq_wqebbs = 8, .layout = GetParam(), .start = 65'530, .timeout_ns = 1'000'000});
    std::uint64_t to = 0;
    SendQueue<Tested<GpuFence>> sq{nic.qp()};
    for (std::uint32_t i = 0; i < before; ++i) {
      const auto ticket = post(nic, sq, to, 1);
      nic.step();
      ASSERT_TRUE(sq.wait(kSolo, ticket).ok());
    }
    const auto ticket = post(nic, sq, to, 2, 3);
    EXPECT_EQ(sq.wait(kSolo, ticket).status, Status::kTimeout);
    EXPECT_EQ(to, 1u);
    nic.step();
    EXPECT_TRUE(sq.wait(kSolo, ticket).ok()) << "a time-out is not the end: the CQE came late";
    EXPECT_EQ(to, 2u);
  }
}

TEST_P(BothLayouts, ALaterCqeStandsForAllBefore) {
  FakeNic nic({.layout = GetParam()});
  std::uint64_t to[3] = {};
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  const auto a = post(nic, sq, to[0], 1);
  const auto b = post(nic, sq, to[1], 2);
  const auto c = post(nic, sq, to[2], 3);
  nic.step();
  EXPECT_TRUE(sq.wait(kSolo, c).ok());
  EXPECT_TRUE(sq.wait(kSolo, a).ok());
  EXPECT_TRUE(sq.wait(kSolo, b).ok());
  EXPECT_THAT(nic.complaints(), IsEmpty());
}

TEST(Timeout, TheDumpNamesIndicesDbrecAndLastCqe) {
  FakeNic nic({.start = 65'530, .timeout_ns = 1'000'000});
  std::uint64_t to = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  const auto first = post(nic, sq, to, 1);
  nic.step();
  ASSERT_TRUE(sq.wait(kSolo, first).ok());
  nic.drop_cqes();
  const auto lost = post(nic, sq, to, 2, 8);
  nic.step();
  ASSERT_EQ(sq.wait(kSolo, lost).status, Status::kTimeout);
  const auto text = format_dump(sq.dump());
  EXPECT_THAT(text, HasSubstr("qp 0x1abcd: pi 65539, ci 65531, reserved 65539, ring 64 WQEBBs"));
  EXPECT_THAT(text, HasSubstr("dbrec: 3 (is pi)"));
  EXPECT_THAT(text, HasSubstr("last cqe: opcode 0, owner 0, WQEBB 65530"));
  EXPECT_THAT(text, HasSubstr("first error: ok"));
}

TEST(Timeout, TheDumpSeesADbrecThatIsWrong) {
  FakeNic nic({.timeout_ns = 1'000'000});
  std::uint64_t to = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  static_cast<void>(post(nic, sq, to, 1));
  nic.dbrec().send = wire::dbrec_value(0);
  EXPECT_THAT(format_dump(sq.dump()), HasSubstr("dbrec: 0 (is NOT pi modulo 65536)"));
  EXPECT_THAT(format_dump(sq.dump()), HasSubstr("last cqe: none written"));
}

TEST(Timeout, TheDumpDecodesAnError) {
  FakeNic nic;
  std::uint64_t to = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  nic.fail_at(0, 0x13, 0x88);
  const auto ticket = post(nic, sq, to, 1);
  nic.step();
  ASSERT_FALSE(sq.wait(kSolo, ticket).ok());
  const auto text = format_dump(sq.dump());
  EXPECT_THAT(text, HasSubstr("opcode 13, owner 0, WQEBB 0, qp 0x1abcd, remote access (0x13, vendor 0x88)"));
  EXPECT_THAT(text, HasSubstr("first error: remote access (syndrome 0x13, vendor 0x88, WQEBB 0)"));
}

// The fake NIC must be able to fail a test.
TEST(FakeNic, ComplainsOfADbrecBehindTheDoorbellAndAWrongIndex) {
  FakeNic nic;
  auto qp = nic.qp();
  *qp.doorbell = wire::doorbell_word(FakeNic::kQpn, 1);  // neither WQE nor dbrec
  nic.step();
  EXPECT_THAT(nic.complaints(), testing::Contains(HasSubstr("dbrec behind")));
  EXPECT_THAT(nic.complaints(), testing::Contains(HasSubstr("wrong index")));
}

}  // namespace
}  // namespace marrow::gda
