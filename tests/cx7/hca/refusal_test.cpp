// SPDX-License-Identifier: Apache-2.0
// What the owner of memory refuses: an error CQE at the requester, and no byte changed.
#include <gmock/gmock.h>

#include <algorithm>

#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

bool is_untouched(const Aligned& memory) {
  return std::all_of(memory.data, memory.data + memory.bytes, [](std::byte b) { return b == std::byte{0}; });
}

struct Refusal {
  TwoSides nic;

  Refusal() { std::memset(nic.a.buffer.data, 0xab, 4096); }

  // Sends one write and returns the syndrome of its CQE.
  wire::Syndrome write(const wire::RemoteRef& to, const wire::LocalRef& from, std::uint32_t bytes) {
    nic.a.put(wire::write_wqe(nic.a.next(wire::Completion::kOnError), to, from, bytes));
    nic.a.announce();
    nic.run();
    const auto* cqe = nic.a.poll();
    return cqe != nullptr && cqe->is_error() ? cqe->syndrome : wire::Syndrome::kNone;
  }
};

TEST(Refusal, WrongRkey) {
  Refusal r;
  auto to = r.nic.b.remote();
  to.rkey ^= 1;  // right number, wrong variant
  EXPECT_EQ(r.write(to, r.nic.a.local(), 64), wire::Syndrome::kRemoteAccess);
  EXPECT_TRUE(is_untouched(r.nic.b.buffer));
  EXPECT_EQ(r.nic.a.qp->state, QpState::kError);
  EXPECT_EQ(r.nic.b.qp->state, QpState::kError);
}

TEST(Refusal, UnknownRkey) {
  Refusal r;
  auto to = r.nic.b.remote();
  to.rkey = 0xdead;
  EXPECT_EQ(r.write(to, r.nic.a.local(), 64), wire::Syndrome::kRemoteAccess);
}

TEST(Refusal, PastTheEndOfTheRegion) {
  Refusal r;
  EXPECT_EQ(r.write(r.nic.b.remote(kBufferBytes - 63), r.nic.a.local(), 64), wire::Syndrome::kRemoteAccess);
  EXPECT_TRUE(is_untouched(r.nic.b.buffer));
}

TEST(Refusal, BeforeTheStartOfTheRegion) {
  Refusal r;
  auto to = r.nic.b.remote();
  to.addr -= 1;
  EXPECT_EQ(r.write(to, r.nic.a.local(), 8), wire::Syndrome::kRemoteAccess);
}

TEST(Refusal, AddressThatWrapsAround) {
  Refusal r;
  auto to = r.nic.b.remote();
  to.addr = ~std::uint64_t{0} - 3;
  EXPECT_EQ(r.write(to, r.nic.a.local(), 8), wire::Syndrome::kRemoteAccess);
}

TEST(Refusal, KeyOfAnotherProtectionDomain) {
  Refusal r;
  r.nic.b.mkey->pdn ^= 1;
  EXPECT_EQ(r.write(r.nic.b.remote(), r.nic.a.local(), 8), wire::Syndrome::kRemoteAccess);
  EXPECT_TRUE(is_untouched(r.nic.b.buffer));
}

TEST(Refusal, KeyWithoutRemoteWrite) {
  Refusal r;
  r.nic.b.mkey->access = kLocalWrite | kRemoteRead;
  EXPECT_EQ(r.write(r.nic.b.remote(), r.nic.a.local(), 8), wire::Syndrome::kRemoteAccess);
}

TEST(Refusal, QpWithoutRemoteWrite) {
  Refusal r;
  r.nic.b.qp->attributes.access = kRemoteRead;
  EXPECT_EQ(r.write(r.nic.b.remote(), r.nic.a.local(), 8), wire::Syndrome::kRemoteInvalidRequest);
}

TEST(Refusal, WrongLkey) {
  Refusal r;
  auto from = r.nic.a.local();
  from.lkey += 0x100;
  EXPECT_EQ(r.write(r.nic.b.remote(), from, 8), wire::Syndrome::kLocalProtection);
  EXPECT_TRUE(is_untouched(r.nic.b.buffer));
  EXPECT_EQ(r.nic.b.qp->state, QpState::kRts) << "the peer never heard of it";
}

// A key destroyed while a message goes through it: what is left of the message is refused.
TEST(Refusal, KeyDestroyedInTheMiddleOfAMessage) {
  for (const auto opcode : {wire::Opcode::kWrite, wire::Opcode::kRead}) {
    TwoSides nic;
    std::memset(nic.b.buffer.data, 0xcd, kBufferBytes);
    nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), kBufferBytes, opcode));
    nic.a.announce();
    nic.step();
    nic.step();
    ASSERT_EQ(nic.a.poll(), nullptr) << "the message was too short for this test";
    {
      const Engine::Lock lock(nic.engine);
      nic.engine.remove_mkey(nic.a.device, nic.a.mkey->key);
    }
    std::memset(nic.a.buffer.data, 0, kBufferBytes);
    nic.run();
    const auto* cqe = nic.a.poll();
    ASSERT_NE(cqe, nullptr);
    EXPECT_EQ(cqe->syndrome, wire::Syndrome::kLocalProtection);
    EXPECT_TRUE(is_untouched(nic.a.buffer));
  }
}

// Work behind the failed WQE is flushed in order, signalled or not; work before it completed.
TEST(Refusal, FlushesWhatStandsBehind) {
  TwoSides nic;
  auto bad = nic.b.remote();
  bad.rkey = 0xdead;
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  nic.a.put(wire::write_wqe(nic.a.next(), bad, nic.a.local(), 8));
  nic.a.put(wire::write_wqe(nic.a.next(wire::Completion::kOnError), nic.b.remote(), nic.a.local(), 8));
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  nic.a.announce();
  nic.run();
  const wire::Syndrome expected[] = {wire::Syndrome::kNone, wire::Syndrome::kRemoteAccess, wire::Syndrome::kFlushed,
                                     wire::Syndrome::kFlushed};
  for (std::uint16_t k = 0; k < 4; ++k) {
    const auto* cqe = nic.a.poll();
    ASSERT_NE(cqe, nullptr) << k;
    EXPECT_EQ(cqe->wqe_counter.host(), k);
    EXPECT_EQ(cqe->is_error() ? cqe->syndrome : wire::Syndrome::kNone, expected[k]) << k;
  }
  EXPECT_EQ(nic.a.poll(), nullptr);
}

// With the record left at 0 the flush says nothing: the bug that shows only after the first fault.
TEST(Refusal, FlushGoesOnlyAsFarAsTheRecord) {
  TwoSides nic(Checking::kLenient);
  auto bad = nic.b.remote();
  bad.rkey = 0xdead;
  nic.a.put(wire::write_wqe(nic.a.next(), bad, nic.a.local(), 8));
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  nic.a.ring();  // no record
  nic.run();
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kRemoteAccess);
  EXPECT_EQ(nic.a.poll(), nullptr);
}

TEST(Refusal, WorkPostedToAQpInErrorIsFlushed) {
  TwoSides nic;
  {
    const Engine::Lock lock(nic.engine);
    nic.engine.modify_qp(nic.a.device, *nic.a.qp, QpState::kError, {});
  }
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  nic.a.announce();
  nic.run_for(std::chrono::milliseconds(3));
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kFlushed);
}

TEST(Refusal, IllegalTransitionChangesNothing) {
  TwoSides nic;
  const Engine::Lock lock(nic.engine);
  EXPECT_EQ(nic.engine.modify_qp(nic.a.device, *nic.a.qp, QpState::kInit, kUsual), Engine::Modify::kBadState);
  EXPECT_EQ(nic.a.qp->state, QpState::kRts);
}

}  // namespace
}  // namespace marrow::cx7::test
