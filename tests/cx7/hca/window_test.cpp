// SPDX-License-Identifier: Apache-2.0
// Memory windows: what cannot be bound, who can use one, and who can take it back. The UMR work request is laid out by
// hand as libmlx5 does.
#include <gmock/gmock.h>

#include "cx7/hca/memory_key.h"
#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

using wire::Syndrome;

/// Side b binds, side a writes through what is bound.
struct WindowNic {
  struct Bind {
    wire::CtrlSegment ctrl;
    std::uint8_t flags;
    std::uint8_t reserved1[3];
    wire::be16 octowords;
    wire::be16 offset;
    wire::be64 mask;
    std::uint8_t reserved16[32];
    std::uint8_t free;
    std::uint8_t reserved49;
    std::uint8_t access;
    std::uint8_t sf;
    wire::be32 qpn_mkey;
    wire::be64 reserved56;
    wire::be64 start;
    wire::be64 length;
    std::uint8_t reserved80[32];
    wire::DataSegment klm;
    wire::DataSegment unused[3];
  };
  static_assert(sizeof(Bind) == 16 + 48 + 64 + 64);

  WindowNic() {
    const Engine::Lock lock(nic.engine);
    nic.b.mkey->access |= kWindowBind;
    const auto number = nic.b.device.mkeys.next_number();
    window =
        &nic.engine.add_mkey(nic.b.device, {.key = number << 8 | 0x11, .pdn = nic.b.pdn, .kind = Mkey::Kind::kWindow});
    std::memset(nic.a.buffer.data, 0xab, kBufferBytes);
  }
  /// 256 bytes from `offset` on, for writing, by the QP that binds.
  Bind bind_to(std::size_t offset) {
    Bind wqe{};
    auto post = nic.b.next();
    post.imm = window->key;
    wqe.ctrl = wire::ctrl_segment(post, wire::Opcode::kUmr, 12);
    wqe.flags = 0x80 | 0x20 | 0x10;
    wqe.octowords = wire::be16(4);
    wqe.mask = wire::be64(0x203c6041);
    wqe.access = 1u << 5;
    wqe.qpn_mkey = wire::be32(nic.b.qp->config.qpn << 8 | 0x12);
    wqe.start = wire::be64(nic.b.remote(offset).addr);
    wqe.length = wire::be64(256);
    wqe.klm = wire::data_segment(nic.b.local(offset), 256);
    return wqe;
  }
  Bind take_back() {
    Bind wqe{};
    auto post = nic.b.next();
    post.imm = window->key;
    wqe.ctrl = wire::ctrl_segment(post, wire::Opcode::kUmr, 8);
    wqe.flags = 0x80 | 0x10 | 0x08;
    wqe.mask = wire::be64(0x20006000);
    wqe.free = 1u << 6;
    wqe.qpn_mkey = wire::be32(0xffffff00);
    return wqe;
  }
  Syndrome run_b(const Bind& wqe, std::size_t bytes = sizeof(Bind)) {
    nic.b.put_bytes(&wqe, bytes);
    nic.b.announce();
    return result_of(nic.b);
  }
  Syndrome write(std::size_t offset, std::uint32_t bytes, std::uint32_t key) {
    nic.a.put(wire::write_wqe(nic.a.next(), {nic.b.remote(offset).addr, key}, nic.a.local(), bytes));
    nic.a.announce();
    return result_of(nic.a);
  }
  Syndrome result_of(Side& side) {
    nic.run();
    const auto* cqe = side.poll();
    EXPECT_NE(cqe, nullptr);
    return cqe != nullptr && cqe->is_error() ? cqe->syndrome : Syndrome::kNone;
  }

  TwoSides nic;
  Mkey* window = nullptr;
};

class Window : public testing::Test, protected WindowNic {};

TEST(WindowRefusals, WhatCannotBeShown) {
  using Bind = WindowNic::Bind;
  struct Row {
    const char* what;
    void (*spoil)(WindowNic& w, Bind& wqe);
    Syndrome expected;
  };
  const Row rows[] = {
      {"a region that allows no windows", [](auto& w, auto&) { w.nic.b.mkey->access &= ~std::uint32_t{kWindowBind}; },
       Syndrome::kMwBind},
      {"a region without local write", [](auto& w, auto&) { w.nic.b.mkey->access &= ~std::uint32_t{kLocalWrite}; },
       Syndrome::kMwBind},
      {"a region of another domain", [](auto& w, auto&) { w.nic.b.mkey->pdn ^= 1; }, Syndrome::kMwBind},
      {"a window of another domain", [](auto& w, auto&) { w.window->pdn ^= 1; }, Syndrome::kMwBind},
      {"more than the region", [](auto&, auto& wqe) { wqe.length = wire::be64(kBufferBytes); }, Syndrome::kMwBind},
      {"a region as the window", [](auto& w, auto& wqe) { wqe.ctrl.imm = wire::be32(w.nic.b.mkey->key); },
       Syndrome::kMwBind},
      {"another kind of UMR", [](auto&, auto& wqe) { wqe.mask = wire::be64(0x203c6041 | 1u << 12); },
       Syndrome::kLocalQpOperation},
      {"a translation by pointer", [](auto&, auto& wqe) { wqe.flags = 0x30; }, Syndrome::kLocalQpOperation},
  };
  for (const auto& row : rows) {
    WindowNic fresh;
    auto wqe = fresh.bind_to(4096);
    row.spoil(fresh, wqe);
    EXPECT_EQ(fresh.run_b(wqe), row.expected) << row.what;
    EXPECT_EQ(fresh.window->region, 0u) << row.what;
  }
}

TEST_F(Window, ShowsNothingBeforeItIsBound) {
  EXPECT_EQ(write(4096, 8, window->key), Syndrome::kRemoteAccess);
}

TEST_F(Window, ShowsItsPartAndNoMore) {
  ASSERT_EQ(run_b(bind_to(4096)), Syndrome::kNone);
  EXPECT_EQ(window->key & 0xff, 0x12u) << "the work request names the new low byte";
  EXPECT_EQ(write(4096, 256, window->key), Syndrome::kNone);
  EXPECT_EQ(nic.b.buffer.data[4096 + 255], std::byte{0xab});
  EXPECT_EQ(write(4096 + 8, 256, window->key), Syndrome::kRemoteAccess);
}

TEST_F(Window, OldKeyIsNoKey) {
  const auto old = window->key;
  ASSERT_EQ(run_b(bind_to(4096)), Syndrome::kNone);
  EXPECT_EQ(write(4096, 8, old), Syndrome::kRemoteAccess);
}

TEST_F(Window, OfTypeTwoServesItsOwnQpOnly) {
  auto wqe = bind_to(4096);
  wqe.qpn_mkey = wire::be32((nic.b.qp->config.qpn + 1) << 8 | 0x12);
  ASSERT_EQ(run_b(wqe), Syndrome::kNone);
  EXPECT_EQ(write(4096, 8, window->key), Syndrome::kRemoteAccess);
}

TEST_F(Window, OfTypeTwoIsBoundOnce) {
  ASSERT_EQ(run_b(bind_to(4096)), Syndrome::kNone);
  EXPECT_EQ(run_b(bind_to(8192)), Syndrome::kMwBind);
}

TEST_F(Window, TakenBackItShowsNothing) {
  ASSERT_EQ(run_b(bind_to(4096)), Syndrome::kNone);
  const auto key = window->key;
  ASSERT_EQ(run_b(take_back(), sizeof(Bind) - 64), Syndrome::kNone);
  EXPECT_EQ(write(4096, 8, key), Syndrome::kRemoteAccess);
}

TEST_F(Window, GoesWithItsRegion) {
  ASSERT_EQ(run_b(bind_to(4096)), Syndrome::kNone);
  {
    const Engine::Lock lock(nic.engine);
    nic.engine.remove_mkey(nic.b.device, nic.b.mkey->key);
  }
  EXPECT_EQ(window->host, nullptr);
  EXPECT_EQ(write(4096, 8, window->key), Syndrome::kRemoteAccess);
}

TEST_F(Window, PeerThatInvalidatesSomethingElseIsRefused) {
  nic.b.post_recv(0, 64);
  auto post = nic.a.next();
  post.imm = nic.b.mkey->key;  // a region
  nic.a.put(wire::send_wqe(post, nic.a.local(), 8, wire::Opcode::kSendInvalidate));
  nic.a.announce();
  EXPECT_EQ(result_of(nic.a), Syndrome::kRemoteAccess);
}

TEST_F(Window, PeerTakesItBackWithASend) {
  ASSERT_EQ(run_b(bind_to(4096)), Syndrome::kNone);
  const auto key = window->key;
  nic.b.post_recv(0, 64);
  auto post = nic.a.next();
  post.imm = key;
  nic.a.put(wire::send_wqe(post, nic.a.local(), 8, wire::Opcode::kSendInvalidate));
  nic.a.announce();
  EXPECT_EQ(result_of(nic.a), Syndrome::kNone);
  const auto* cqe = nic.b.poll_recv();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->opcode(), wire::CqeOpcode::kRecvSendInvalidate);
  EXPECT_EQ(cqe->imm.host(), key);
  EXPECT_EQ(write(4096, 8, key), Syndrome::kRemoteAccess);
}

}  // namespace
}  // namespace marrow::cx7::test
