// SPDX-License-Identifier: Apache-2.0
// Indirect keys: what a work request may make them show, that bytes go through them piece by piece both ways, and who
// takes them back. The work request is laid out with rdma-core's own structs.
#include <gmock/gmock.h>
#include <infiniband/mlx5dv.h>

#include "cx7/hca/key_layout.h"
#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

using wire::Syndrome;

constexpr std::uint32_t kOctowords = 8;

/// As mlx5dv_wr_mr_list() and mlx5dv_wr_mr_interleaved() have it.
struct Umr {
  wire::CtrlSegment ctrl;
  mlx5_wqe_umr_ctrl_seg umr;
  std::array<std::byte, sizeof(mlx5_wqe_mkey_context_seg)> key;
  std::array<mlx5_wqe_umr_klm_seg, 4> entries;

  mlx5_wqe_mkey_context_seg& context() { return *reinterpret_cast<mlx5_wqe_mkey_context_seg*>(key.data()); }
};
static_assert(sizeof(Umr) == 16 + 48 + 64 + 64);

/// Side b has a key that shows nothing yet; it configures it, and side a reaches through it.
struct KeyNic {
  KeyNic() {
    const Engine::Lock lock(nic.engine);
    const auto number = nic.b.device.mkeys.next_number();
    key = &nic.engine.add_mkey(nic.b.device, {.key = number << 8,
                                              .pdn = nic.b.pdn,
                                              .kind = Mkey::Kind::kIndirect,
                                              .layout = std::make_shared<KeyLayout>(kOctowords),
                                              .free = true,
                                              .configurable = true});
    for (std::size_t k = 0; k < 4096; ++k) nic.a.buffer.data[k] = static_cast<std::byte>(k * 7);
  }
  Umr umr(std::uint64_t length) {
    Umr wqe{};
    auto post = nic.b.next();
    post.imm = key->key;
    wqe.ctrl = wire::ctrl_segment(post, wire::Opcode::kUmr, sizeof(Umr) / 16);
    wqe.umr.flags = MLX5_WQE_UMR_CTRL_FLAG_INLINE;
    wqe.umr.klm_octowords = htobe16(4);
    wqe.umr.mkey_mask =
        htobe64(MLX5_WQE_UMR_CTRL_MKEY_MASK_FREE | MLX5_WQE_UMR_CTRL_MKEY_MASK_MKEY | MLX5_WQE_UMR_CTRL_MKEY_MASK_LEN |
                MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_LOCAL_WRITE | MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_READ |
                MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_WRITE | MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_ATOMIC);
    wqe.context().access_flags =
        MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_LOCAL_WRITE | MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_REMOTE_READ |
        MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_REMOTE_WRITE | MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_ATOMIC;
    wqe.context().qpn_mkey = htobe32(0xffffff00);
    wqe.context().len = htobe64(length);
    return wqe;
  }
  [[nodiscard]] mlx5_wqe_umr_klm_seg entry(std::size_t offset, std::uint32_t bytes) const {
    return {htobe32(bytes), htobe32(nic.b.mkey->key), htobe64(nic.b.local(offset).addr)};
  }
  /// 24 bytes at 1000, then 40 at 200.
  Umr list() {
    auto wqe = umr(64);
    wqe.entries[0] = entry(1000, 24);
    wqe.entries[1] = entry(200, 40);
    return wqe;
  }
  /// 8 bytes at 0 and 4 at 512, three times, 10 and 16 bytes apart.
  Umr interleaved() {
    auto wqe = umr(36);
    auto* const block = reinterpret_cast<mlx5_wqe_umr_repeat_block_seg*>(wqe.entries.data());
    block->byte_count = htobe32(12);
    block->op = htobe32(0x400);
    block->repeat_count = htobe32(3);
    block->num_ent = htobe16(2);
    const auto stride = [&](std::size_t offset, std::uint16_t bytes, std::uint16_t apart) {
      return mlx5_wqe_umr_repeat_ent_seg{htobe16(apart), htobe16(bytes), htobe32(nic.b.mkey->key),
                                         htobe64(nic.b.local(offset).addr)};
    };
    block->entries[0] = stride(0, 8, 10);
    block->entries[1] = stride(512, 4, 16);
    return wqe;
  }
  Umr take_back() {
    auto wqe = umr(0);
    wqe.ctrl = wire::ctrl_segment(post_of(key->key), wire::Opcode::kUmr, 8);
    wqe.umr.flags =
        MLX5_WQE_UMR_CTRL_FLAG_INLINE | MLX5_WQE_UMR_CTRL_FLAG_TRNSLATION_OFFSET | MLX5_WQE_UMR_CTRL_FLAG_CHECK_QPN;
    wqe.umr.klm_octowords = 0;
    wqe.umr.mkey_mask =
        htobe64(MLX5_WQE_UMR_CTRL_MKEY_MASK_FREE | MLX5_WQE_UMR_CTRL_MKEY_MASK_MKEY | MLX5_WQE_UMR_CTRL_MKEY_MASK_QPN);
    wqe.context().free = MLX5_WQE_MKEY_CONTEXT_FREE;
    return wqe;
  }
  wire::Post post_of(std::uint32_t imm) {
    auto post = nic.b.next();
    post.imm = imm;
    return post;
  }
  Syndrome run_b(const Umr& wqe) {
    const bool entries = be16toh(wqe.umr.klm_octowords) != 0;
    nic.b.put_bytes(&wqe, sizeof wqe - (entries ? 0 : sizeof wqe.entries));
    nic.b.announce();
    return result_of(nic.b);
  }
  Syndrome write(std::uint64_t va, std::uint32_t bytes) {
    nic.a.put(wire::write_wqe(nic.a.next(), {va, key->key}, nic.a.local(), bytes));
    nic.a.announce();
    return result_of(nic.a);
  }
  Syndrome result_of(Side& side) {
    nic.run();
    const auto* cqe = side.poll();
    EXPECT_NE(cqe, nullptr);
    return cqe != nullptr && cqe->is_error() ? cqe->syndrome : Syndrome::kNone;
  }
  [[nodiscard]] std::vector<std::byte> sent(std::size_t from, std::size_t bytes) const {
    return {nic.a.buffer.data + from, nic.a.buffer.data + from + bytes};
  }
  [[nodiscard]] std::vector<std::byte> at_b(std::size_t from, std::size_t bytes) const {
    return {nic.b.buffer.data + from, nic.b.buffer.data + from + bytes};
  }

  TwoSides nic;
  Mkey* key = nullptr;
};

class IndirectKey : public testing::Test, protected KeyNic {};

TEST(IndirectKeyRefusals, WhatCannotBeShown) {
  struct Row {
    const char* what;
    void (*spoil)(KeyNic& k, Umr& wqe);
    Syndrome expected;
  };
  const Row rows[] = {
      {"a region", [](auto& k, auto& wqe) { wqe.ctrl.imm = wire::be32(k.nic.b.mkey->key); }, Syndrome::kMwBind},
      {"a key that nobody has", [](auto&, auto& wqe) { wqe.ctrl.imm = wire::be32(0xffff00); }, Syndrome::kMwBind},
      {"a key of another domain", [](auto& k, auto&) { k.key->pdn ^= 1; }, Syndrome::kMwBind},
      {"a key that was made whole", [](auto& k, auto&) { k.key->configurable = false; }, Syndrome::kMwBind},
      {"more than it has room for", [](auto& k, auto&) { k.key->layout = std::make_shared<KeyLayout>(3); },
       Syndrome::kMwBind},
      {"a key for one QP",
       [](auto&, auto& wqe) {
         wqe.umr.mkey_mask |= htobe64(MLX5_WQE_UMR_CTRL_MKEY_MASK_QPN);
         wqe.context().qpn_mkey = htobe32(0x700);
       },
       Syndrome::kMwBind},
      {"once more, though it must be free",
       [](auto& k, auto& wqe) {
         k.key->free = false;
         wqe.umr.flags |= MLX5_WQE_UMR_CTRL_FLAG_CHECK_FREE;
       },
       Syndrome::kMwBind},
      {"an entry behind the work request's end", [](auto&, auto& wqe) { wqe.umr.klm_octowords = htobe16(5); },
       Syndrome::kLocalQpOperation},
      {"a signature", [](auto&, auto& wqe) { wqe.umr.mkey_mask |= htobe64(MLX5_WQE_UMR_CTRL_MKEY_MASK_BSF_ENABLE); },
       Syndrome::kLocalQpOperation},
      {"a list by pointer", [](auto&, auto& wqe) { wqe.umr.flags = 0; }, Syndrome::kLocalQpOperation},
      {"rounds of more entries than there are",
       [](auto& k, auto& wqe) {
         wqe = k.interleaved();
         reinterpret_cast<mlx5_wqe_umr_repeat_block_seg*>(wqe.entries.data())->num_ent = htobe16(4);
       },
       Syndrome::kMwBind},
  };
  for (const auto& row : rows) {
    KeyNic fresh;
    auto wqe = fresh.list();
    row.spoil(fresh, wqe);
    EXPECT_EQ(fresh.run_b(wqe), row.expected) << row.what;
    EXPECT_EQ(fresh.key->bytes, 0u) << row.what;
  }
}

TEST_F(IndirectKey, ShowsNothingBeforeItIsConfigured) {
  EXPECT_EQ(write(0, 8), Syndrome::kRemoteAccess);
}

TEST_F(IndirectKey, AListIsWrittenPieceByPiece) {
  ASSERT_EQ(run_b(list()), Syndrome::kNone);
  ASSERT_EQ(write(0, 64), Syndrome::kNone);
  EXPECT_EQ(at_b(1000, 24), sent(0, 24));
  EXPECT_EQ(at_b(200, 40), sent(24, 40));
  EXPECT_EQ(nic.b.buffer.data[1024], std::byte{0}) << "the byte behind the first piece";
}

TEST_F(IndirectKey, APartOfAListBeginsInTheMiddleOfAPiece) {
  ASSERT_EQ(run_b(list()), Syndrome::kNone);
  ASSERT_EQ(write(20, 10), Syndrome::kNone);
  EXPECT_EQ(at_b(1020, 4), sent(0, 4));
  EXPECT_EQ(at_b(200, 6), sent(4, 6));
}

TEST_F(IndirectKey, PastItsEndIsNothing) {
  ASSERT_EQ(run_b(list()), Syndrome::kNone);
  EXPECT_EQ(write(1, 64), Syndrome::kRemoteAccess);
}

// A length that the entries do not fill: what is behind them is refused when it is reached.
TEST_F(IndirectKey, EntriesMayBeShorterThanItsLength) {
  auto wqe = list();
  wqe.context().len = htobe64(100);
  ASSERT_EQ(run_b(wqe), Syndrome::kNone);
  EXPECT_EQ(write(0, 100), Syndrome::kRemoteAccess);
}

TEST_F(IndirectKey, InterleavedPiecesMoveOnByTheirStride) {
  ASSERT_EQ(run_b(interleaved()), Syndrome::kNone);
  ASSERT_EQ(write(0, 36), Syndrome::kNone);
  for (std::size_t round = 0; round < 3; ++round) {
    EXPECT_EQ(at_b(10 * round, 8), sent(12 * round, 8)) << round;
    EXPECT_EQ(at_b(512 + 16 * round, 4), sent(12 * round + 8, 4)) << round;
  }
  EXPECT_EQ(nic.b.buffer.data[8], std::byte{0}) << "what is skipped";
  EXPECT_EQ(nic.b.buffer.data[30], std::byte{0}) << "a fourth round";
}

TEST_F(IndirectKey, IsReadThrough) {
  for (std::size_t k = 0; k < 4096; ++k) nic.b.buffer.data[k] = static_cast<std::byte>(k * 3);
  ASSERT_EQ(run_b(list()), Syndrome::kNone);
  nic.a.put(wire::write_wqe(nic.a.next(), {0, key->key}, nic.a.local(), 64, wire::Opcode::kRead));
  nic.a.announce();
  ASSERT_EQ(result_of(nic.a), Syndrome::kNone);
  EXPECT_EQ(sent(0, 24), at_b(1000, 24));
  EXPECT_EQ(sent(24, 40), at_b(200, 40));
}

TEST_F(IndirectKey, GathersAndScattersOfItsOwnSide) {
  ASSERT_EQ(run_b(list()), Syndrome::kNone);
  for (std::size_t k = 0; k < 4096; ++k) nic.b.buffer.data[k] = static_cast<std::byte>(k * 5);
  const wire::LocalRef through{0, key->key};
  nic.b.put(wire::write_wqe(nic.b.next(), nic.a.remote(), through, 64));
  nic.b.announce();
  ASSERT_EQ(result_of(nic.b), Syndrome::kNone);
  EXPECT_EQ(sent(0, 24), at_b(1000, 24));
  nic.b.put(wire::write_wqe(nic.b.next(), nic.a.remote(100), through, 64, wire::Opcode::kRead));
  nic.b.announce();
  ASSERT_EQ(result_of(nic.b), Syndrome::kNone);
  EXPECT_EQ(at_b(200, 40), sent(124, 40));
}

TEST_F(IndirectKey, AnAtomicFitsInOnePieceOrIsRefused) {
  ASSERT_EQ(run_b(list()), Syndrome::kNone);
  nic.a.put(wire::atomic_wqe(nic.a.next(), {16, key->key}, nic.a.local(), {.swap_add = 5}));
  nic.a.announce();
  ASSERT_EQ(result_of(nic.a), Syndrome::kNone);
  EXPECT_EQ(nic.b.buffer.data[1016], std::byte{5});
  auto wqe = interleaved();
  ASSERT_EQ(run_b(wqe), Syndrome::kNone);
  nic.a.put(wire::atomic_wqe(nic.a.next(), {8, key->key}, nic.a.local(), {.swap_add = 5}));
  nic.a.announce();
  EXPECT_EQ(result_of(nic.a), Syndrome::kRemoteAccess);
}

// The rights of the key count for peers; the region behind it must allow what is done to it.
TEST_F(IndirectKey, ARegionWithoutLocalWriteIsNotWrittenThroughIt) {
  ASSERT_EQ(run_b(list()), Syndrome::kNone);
  nic.b.mkey->access = 0;
  EXPECT_EQ(write(0, 8), Syndrome::kRemoteAccess);
}

TEST_F(IndirectKey, GivesARightThatTheRegionDoesNotGive) {
  nic.b.mkey->access = kLocalWrite;
  ASSERT_EQ(run_b(list()), Syndrome::kNone);
  EXPECT_EQ(write(0, 8), Syndrome::kNone);
}

TEST_F(IndirectKey, AKeyBehindAKeyBehindAKeyIsRefused) {
  ASSERT_EQ(run_b(list()), Syndrome::kNone);
  Mkey* inner = key;
  {
    const Engine::Lock lock(nic.engine);
    key = &nic.engine.add_mkey(nic.b.device, {.key = nic.b.device.mkeys.next_number() << 8,
                                              .pdn = nic.b.pdn,
                                              .kind = Mkey::Kind::kIndirect,
                                              .layout = std::make_shared<KeyLayout>(kOctowords),
                                              .free = true,
                                              .configurable = true});
  }
  auto wqe = list();
  wqe.entries[0] = {htobe32(24), htobe32(inner->key), 0};
  ASSERT_EQ(run_b(wqe), Syndrome::kNone) << "what is behind it is looked at when it is used";
  EXPECT_EQ(write(0, 8), Syndrome::kRemoteAccess);
}

TEST_F(IndirectKey, TakesItsPiecesAlongWhenARegionGoes) {
  ASSERT_EQ(run_b(list()), Syndrome::kNone);
  {
    const Engine::Lock lock(nic.engine);
    nic.engine.remove_mkey(nic.b.device, nic.b.mkey->key);
  }
  EXPECT_EQ(write(0, 8), Syndrome::kRemoteAccess);
}

TEST_F(IndirectKey, TakenBackItShowsNothingUntilItIsConfiguredAnew) {
  ASSERT_EQ(run_b(list()), Syndrome::kNone);
  ASSERT_EQ(run_b(take_back()), Syndrome::kNone);
  EXPECT_TRUE(key->free);
  ASSERT_EQ(run_b(list()), Syndrome::kNone);
  EXPECT_EQ(write(0, 8), Syndrome::kNone);
  ASSERT_EQ(run_b(take_back()), Syndrome::kNone);
  EXPECT_EQ(write(0, 8), Syndrome::kRemoteAccess);
}

TEST_F(IndirectKey, APeerTakesItBackOnlyWhereThatIsAllowed) {
  for (const bool allowed : {false, true}) {
    KeyNic fresh;
    fresh.key->remote_invalidate = allowed;
    ASSERT_EQ(fresh.run_b(fresh.list()), Syndrome::kNone);
    fresh.nic.b.post_recv(0, 64);
    auto post = fresh.nic.a.next();
    post.imm = fresh.key->key;
    fresh.nic.a.put(wire::send_wqe(post, fresh.nic.a.local(), 8, wire::Opcode::kSendInvalidate));
    fresh.nic.a.announce();
    EXPECT_EQ(fresh.result_of(fresh.nic.a), allowed ? Syndrome::kNone : Syndrome::kRemoteAccess);
    EXPECT_EQ(fresh.key->free, allowed);
  }
}

TEST(KeyLayout, EqualPiecesIgnoreTheirByteCounts) {
  KeyLayout layout(2);
  std::array<mlx5_wqe_umr_klm_seg, 3> entries{{{htobe32(1), htobe32(0x100), htobe64(0x5000)},
                                               {htobe32(1), htobe32(0x200), htobe64(0x9000)},
                                               {htobe32(1), htobe32(0x300), htobe64(0xa000)}}};
  EXPECT_FALSE(layout.take_fixed(std::as_bytes(std::span(entries)), 4096)) << "more than there is room for";
  EXPECT_EQ(layout.at(0).bytes, 0u);
  ASSERT_TRUE(layout.take_fixed(std::as_bytes(std::span(entries).first(2)), 4096));
  const auto at = layout.at(4096 + 10);
  EXPECT_EQ(at.key, 0x200u);
  EXPECT_EQ(at.va, 0x9000u + 10);
  EXPECT_EQ(at.bytes, 4086u);
  EXPECT_EQ(layout.at(8192).bytes, 0u);
}

}  // namespace
}  // namespace marrow::cx7::test
