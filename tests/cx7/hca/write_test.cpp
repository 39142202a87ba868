// SPDX-License-Identifier: Apache-2.0
// What a write does: bytes arrive, one CQE says so, and nothing else changes.
#include <gmock/gmock.h>

#include <numeric>

#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

struct InlineWrite {
  wire::CtrlSegment ctrl;
  wire::RemoteSegment remote;
  wire::InlineHeader header;
  std::byte payload[220];
};

// Inline WQE of `bytes` as bytes to be put into the SQ; returns its size.
std::size_t build_inline(InlineWrite& wqe, const wire::Post& post, const wire::RemoteRef& to,
                         const std::vector<std::byte>& payload) {
  const auto bytes = static_cast<std::uint32_t>(payload.size());
  const auto ds = 2 + wire::inline_ds(bytes);
  wqe.ctrl = wire::ctrl_segment(post, wire::Opcode::kWrite, ds);
  wqe.remote = wire::remote_segment(to);
  wqe.header = wire::inline_header(bytes);
  std::memcpy(wqe.payload, payload.data(), bytes);
  return ds * wire::kDsBytes;
}

std::vector<std::byte> pattern(std::size_t bytes) {
  std::vector<std::byte> out(bytes);
  for (std::size_t k = 0; k < bytes; ++k) out[k] = static_cast<std::byte>(k * 7 + 1);
  return out;
}

TEST(Write, EightBytesInlineArriveAndCompleteOnce) {
  TwoSides nic;
  InlineWrite wqe{};
  const auto payload = pattern(8);
  const auto size = build_inline(wqe, nic.a.next(), nic.b.remote(64), payload);
  nic.a.put_bytes(&wqe, size);
  nic.a.announce();
  nic.run();

  EXPECT_EQ(std::memcmp(nic.b.buffer.data + 64, payload.data(), 8), 0);
  EXPECT_EQ(nic.b.buffer.data[63], std::byte{0});
  EXPECT_EQ(nic.b.buffer.data[72], std::byte{0});
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->opcode(), wire::CqeOpcode::kRequester);
  EXPECT_EQ(cqe->wqe_counter.host(), 0);
  EXPECT_EQ(cqe->qpn(), nic.a.qp->config.qpn);
  EXPECT_EQ(cqe->user_index.host(), 0x77u);
  EXPECT_EQ(nic.a.poll(), nullptr);
  EXPECT_EQ(nic.b.poll(), nullptr);
}

// Every size around the block and MTU borders, pointer and inline, with the SQ wrapping on the way.
TEST(Write, EverySizeArrivesWhole) {
  TwoSides nic;
  for (const std::uint32_t bytes : {1u, 8u, 12u, 28u, 29u, 92u, 93u, 156u, 220u}) {
    InlineWrite wqe{};
    const auto payload = pattern(bytes);
    nic.a.put_bytes(&wqe, build_inline(wqe, nic.a.next(), nic.b.remote(), payload));
    nic.a.announce();
    nic.run();
    ASSERT_NE(nic.a.poll(), nullptr) << bytes;
    EXPECT_EQ(std::memcmp(nic.b.buffer.data, payload.data(), bytes), 0) << bytes;
    std::memset(nic.b.buffer.data, 0, bytes);
  }
  for (const std::uint32_t bytes : {1u, 1023u, 1024u, 1025u, 4096u, 65536u, 200000u}) {
    const auto payload = pattern(bytes);
    std::memcpy(nic.a.buffer.data, payload.data(), bytes);
    nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), bytes));
    nic.a.announce();
    nic.run();
    const auto* cqe = nic.a.poll();
    ASSERT_NE(cqe, nullptr) << bytes;
    ASSERT_FALSE(cqe->is_error()) << wire::syndrome_name(cqe->syndrome);
    EXPECT_EQ(std::memcmp(nic.b.buffer.data, payload.data(), bytes), 0) << bytes;
    std::memset(nic.b.buffer.data, 0, bytes);
  }
}

// One CQE retires the unsignalled writes before it; its counter names its own first block.
TEST(Write, OnlySignalledWritesHaveACqe) {
  TwoSides nic;
  for (int k = 0; k < 10; ++k) {
    const auto completion = k == 9 ? wire::Completion::kAlways : wire::Completion::kOnError;
    nic.a.put(wire::write_wqe(nic.a.next(completion), nic.b.remote(), nic.a.local(), 8));
  }
  nic.a.announce();
  nic.run();
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->wqe_counter.host(), 9);
  EXPECT_EQ(nic.a.poll(), nullptr);
  EXPECT_EQ(nic.a.device.counters.wqes_fetched, 10u);
  EXPECT_EQ(nic.a.device.counters.doorbells, 1u);
}

// 16-bit queue indices and 24-bit PSNs wrap without anybody noticing.
TEST(Write, IndicesWrapPastTwiceTheirRange) {
  auto attributes = kUsual;
  attributes.send_psn = attributes.recv_psn = 0xffff00;
  TwoSides nic(Checking::kStrict, attributes);
  constexpr std::uint64_t kOps = 2 * 65536 + 100;
  for (std::uint64_t k = 0; k < kOps; ++k) {
    std::memcpy(nic.a.buffer.data, &k, sizeof k);
    nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
    nic.a.announce();
    nic.run();
    const auto* cqe = nic.a.poll();
    ASSERT_NE(cqe, nullptr) << k;
    ASSERT_EQ(cqe->wqe_counter.host(), k & 0xffff);
    std::uint64_t seen = 0;
    std::memcpy(&seen, nic.b.buffer.data, sizeof seen);
    ASSERT_EQ(seen, k);
  }
}

// libmlx5's form of the doorbell, on the other half of the register, means the same.
TEST(Write, BothDoorbellFormsAreUnderstood) {
  TwoSides nic;
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  nic.a.record();
  nic.a.ring_word(wire::Doorbell{nic.a.qp->config.qpn, 0, 3}.to_word(), 0x900);
  nic.run();
  EXPECT_NE(nic.a.poll(), nullptr);
  EXPECT_EQ(nic.a.device.counters.strict_doorbell_without_work, 0u);
}

// A NOP completes in its turn, not before the writes in front of it.
TEST(Write, NopCompletesInOrder) {
  TwoSides nic;
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 100000));
  nic.a.put(wire::nop_wqe(nic.a.next()));
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  nic.a.announce();
  nic.run();
  for (int k = 0; k < 3; ++k) {
    const auto* cqe = nic.a.poll();
    ASSERT_NE(cqe, nullptr);
    EXPECT_EQ(cqe->wqe_counter.host(), k);
  }
}

}  // namespace
}  // namespace marrow::cx7::test
