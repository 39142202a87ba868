// SPDX-License-Identifier: Apache-2.0
// CREATE_MKEY, QUERY_MKEY and DESTROY_MKEY: one row a wrong field, then keys on a umem and keys of other keys.
#include <gtest/gtest.h>

#include "cx7/fw/firmware.h"
#include "cx7/fw/mkc.h"
#include "cx7/hca/key_layout.h"
#include "cx7/hca/memory_key.h"

namespace marrow::cx7::fw {
namespace {

constexpr std::size_t kListAt = create_mkey_at::kInBytes;
class Mkeys : public Firmware {
 protected:
  Mkeys() {
    region = client_.device.mkeys.next_number() << 8;
    client_.engine.add_mkey(
        client_.device,
        {.key = region, .pdn = kPdn, .access = kLocalWrite, .bytes = kUmemBytes, .host = memory_->data()});
  }
  static std::byte* context_of(Mailbox& in) { return in.data() + create_mkey_at::kContext; }
  /// As libmlx5's mlx5dv_create_mkey() fills it.
  static Mailbox free_list() {
    auto in = box(Command::kCreateMkey, kListAt);
    std::byte* const c = context_of(in);
    prm::set(c, mkc::access_mode, 2);
    prm::set(c, mkc::free, 1);
    prm::set(c, mkc::umr_en, 1);
    prm::set(c, mkc::local_read, 1);
    prm::set(c, mkc::qpn, 0xffffff);
    prm::set(c, mkc::pd, kPdn);
    prm::set(c, mkc::octowords, 4);
    return in;
  }
  static void entry(Mailbox& in, std::size_t index, std::uint64_t address, std::uint32_t bytes) {
    in.resize(std::max(in.size(), kListAt + (index + 1) * kOctowordBytes));
    std::byte* const at = in.data() + kListAt + index * kOctowordBytes;
    prm::set(at, prm::Field{0x00, 31, 0}, bytes);
    prm::set(at, prm::Field{0x04, 31, 0}, region);
    prm::set(at, prm::Field64{0x08}, address);
    prm::set(in.data(), create_mkey_at::list_octowords, static_cast<std::uint32_t>(index + 1));
  }
  /// Pieces of one size, as UCX makes one of many registrations.
  static Mailbox equal_pieces() {
    auto in = free_list();
    std::byte* const c = context_of(in);
    prm::set(c, mkc::access_mode, 3);
    prm::set(c, mkc::free, 0);
    prm::set(c, mkc::umr_en, 0);
    for (const auto right : {mkc::atomic, mkc::remote_write, mkc::remote_read, mkc::local_write}) prm::set(c, right, 1);
    prm::set(c, mkc::log_entity_bytes, 12);
    prm::set(c, mkc::variant, 0x5a);
    prm::set(c, mkc::start, 0x100000);
    prm::set(c, mkc::length, 8192);
    entry(in, 0, 0x3000, 4096);
    entry(in, 1, 0x1000, 4096);
    return in;
  }
  Mailbox on_umem() {
    auto in = free_list();
    std::byte* const c = context_of(in);
    prm::set(c, mkc::access_mode, 1);
    prm::set(c, mkc::free, 0);
    prm::set(c, mkc::umr_en, 0);
    prm::set(c, mkc::octowords, 0);
    prm::set(c, mkc::local_write, 1);
    prm::set(c, mkc::remote_read, 1);
    prm::set(c, mkc::start, 0x7000);
    prm::set(c, mkc::length, 0x1000);
    prm::set(in.data(), create_mkey_at::umem_valid, 1);
    prm::set(in.data(), create_mkey_at::umem_id, kUmem);
    prm::set(in.data(), create_mkey_at::umem_offset, 0x2000);
    return in;
  }
  static inline std::uint32_t region = 0;  // key of what lies behind
  [[nodiscard]] Span look(std::uint32_t key, std::uint64_t va, std::uint64_t bytes, std::uint32_t access = 0) {
    return resolve(client_.device, {.key = key, .pdn = kPdn, .access = access, .va = va, .bytes = bytes});
  }
};

TEST_F(Mkeys, Refusals) {
  using S = CommandStatus;
  using Change = void (*)(Mailbox & in, std::byte * context);
  struct Row {
    const char* what;
    Change spoil;
    S expected;
  };
  const Row rows[] = {
      {"a foreign PD", [](auto&, auto* c) { prm::set(c, mkc::pd, 0x12); }, S::kBadResource},
      {"physical addresses", [](auto&, auto* c) { prm::set(c, mkc::access_mode, 0); }, S::kBadParameter},
      {"no local read", [](auto&, auto* c) { prm::set(c, mkc::local_read, 0); }, S::kBadParameter},
      {"for one QP", [](auto&, auto* c) { prm::set(c, mkc::qpn, 0x40); }, S::kBadParameter},
      {"a range that wraps",
       [](auto&, auto* c) {
         prm::set(c, mkc::start, ~0ull);
         prm::set(c, mkc::length, 2);
       },
       S::kBadParameter},
      {"no room", [](auto&, auto* c) { prm::set(c, mkc::octowords, 0); }, S::kExceedLimit},
      {"too much room", [](auto&, auto* c) { prm::set(c, mkc::octowords, 65537); }, S::kExceedLimit},
      {"empty but not free", [](auto&, auto* c) { prm::set(c, mkc::free, 0); }, S::kBadParameter},
      {"equal pieces, and none there", [](auto&, auto* c) { prm::set(c, mkc::access_mode, 3); }, S::kBadParameter},
      {"a list that is not all there", [](auto& in, auto*) { prm::set(in.data(), create_mkey_at::list_octowords, 1); },
       S::kBadInputLength},
      {"a list that is longer than it may be",
       [](auto& in, auto*) {
         for (std::size_t k = 0; k < 5; ++k) entry(in, k, 0, 8);
       },
       S::kBadSize},
      {"a list that is longer than it says",
       [](auto& in, auto*) {
         entry(in, 1, 0x1000, 8);
         prm::set(in.data(), create_mkey_at::list_octowords, 1);
       },
       S::kBadInputLength},
  };
  for (const auto& row : rows) {
    auto in = free_list();
    row.spoil(in, context_of(in));
    EXPECT_EQ(run(in), row.expected) << row.what;
  }
  EXPECT_EQ(client_.device.mkeys.count(), 1u);
  EXPECT_EQ(client_.device.pds.find(kPdn)->users, 0u);
}

TEST_F(Mkeys, RefusalsOnAUmem) {
  using S = CommandStatus;
  struct Row {
    const char* what;
    void (*spoil)(std::byte* box, std::byte* context);
    S expected;
  };
  const Row rows[] = {
      {"a foreign umem", [](auto* b, auto*) { prm::set(b, create_mkey_at::umem_id, 6); }, S::kBadResource},
      {"a page list", [](auto* b, auto*) { prm::set(b, create_mkey_at::umem_valid, 0); }, S::kBadParameter},
      {"past its end", [](auto*, auto* c) { prm::set(c, mkc::length, kUmemBytes); }, S::kBadSize},
      {"an offset that overflows", [](auto* b, auto*) { prm::set(b, create_mkey_at::umem_offset, ~0ull); },
       S::kBadSize},
      {"nothing", [](auto*, auto* c) { prm::set(c, mkc::length, 0); }, S::kBadSize},
      {"elsewhere in its page", [](auto*, auto* c) { prm::set(c, mkc::start, 0x7008); }, S::kBadParameter},
      {"free", [](auto*, auto* c) { prm::set(c, mkc::free, 1); }, S::kBadParameter},
      {"for work requests", [](auto*, auto* c) { prm::set(c, mkc::umr_en, 1); }, S::kBadParameter},
  };
  for (const auto& row : rows) {
    auto in = on_umem();
    row.spoil(in.data(), context_of(in));
    EXPECT_EQ(run(in), row.expected) << row.what;
  }
  EXPECT_EQ(client_.umems.at(kUmem).users, 0u);
}

TEST_F(Mkeys, AFreeKeyWaitsForAWorkRequest) {
  auto in = free_list();
  prm::set(context_of(in), mkc::remote_invalidate, 1);
  ASSERT_EQ(run(in), CommandStatus::kOk);
  const auto index = made();
  const Mkey* const mkey = client_.device.mkeys.find(index);
  ASSERT_NE(mkey, nullptr);
  EXPECT_EQ(mkey->key, index << 8) << "mlx5dv_create_mkey() takes the low byte for 0";
  EXPECT_TRUE(mkey->free && mkey->configurable && mkey->remote_invalidate);
  EXPECT_FALSE(look(mkey->key, 0, 0));

  ASSERT_EQ(run(about(Command::kQueryMkey, index)), CommandStatus::kOk);
  const std::byte* const said = out_.data() + create_mkey_at::kContext;
  for (const auto field : {mkc::free, mkc::umr_en, mkc::local_read, mkc::remote_invalidate}) {
    EXPECT_EQ(prm::get(said, field), 1u) << field.dword << " " << int{field.low};
  }
  EXPECT_EQ(prm::get(said, mkc::access_mode), 2u);
  EXPECT_EQ(prm::get(said, mkc::octowords), 4u);
  EXPECT_EQ(prm::get(said, mkc::pd), kPdn);
  EXPECT_EQ(client_.device.pds.find(kPdn)->users, 1u);
  EXPECT_EQ(run(about(Command::kDestroyMkey, index)), CommandStatus::kOk);
  EXPECT_EQ(client_.device.pds.find(kPdn)->users, 0u);
  EXPECT_EQ(run(about(Command::kDestroyMkey, index)), CommandStatus::kBadResource);
  EXPECT_EQ(run(about(Command::kQueryMkey, index)), CommandStatus::kBadResource);
}

TEST_F(Mkeys, EqualPiecesAreShownAtOnce) {
  ASSERT_EQ(run(equal_pieces()), CommandStatus::kOk);
  const auto key = made() << 8 | 0x5a;
  const auto span = look(key, 0x100000 + 4000, 200, kRemoteWrite);
  ASSERT_TRUE(span);
  auto piece = inner_piece(client_.device, span, 0, 200);
  EXPECT_EQ(piece.host, memory_->data() + 0x3000 + 4000);
  EXPECT_EQ(piece.bytes, 96u);
  piece = inner_piece(client_.device, span, 96, 104);
  EXPECT_EQ(piece.host, memory_->data() + 0x1000);
  EXPECT_EQ(piece.bytes, 104u);
  EXPECT_FALSE(look(key, 0x100000, 8193));
}

TEST_F(Mkeys, PagesOfAUmem) {
  ASSERT_EQ(run(on_umem()), CommandStatus::kOk);
  const auto index = made();
  EXPECT_EQ(look(index << 8, 0x7010, 16, kRemoteRead).host, memory_->data() + 0x2010);
  EXPECT_FALSE(look(index << 8, 0x7010, 16, kRemoteWrite));
  EXPECT_EQ(client_.umems.at(kUmem).users, 1u) << "the umem cannot go";
  EXPECT_EQ(run(about(Command::kDestroyMkey, index)), CommandStatus::kOk);
  EXPECT_EQ(client_.umems.at(kUmem).users, 0u);
}

TEST_F(Mkeys, OfAnotherClientDoNotExist) {
  ASSERT_EQ(run(free_list()), CommandStatus::kOk);
  const auto index = made();
  Client other(engine_, engine_.device(0));
  Mailbox out(0x110);
  EXPECT_EQ(execute(other, about(Command::kDestroyMkey, index), out).status, CommandStatus::kBadResource);
  EXPECT_EQ(execute(other, about(Command::kQueryMkey, index), out).status, CommandStatus::kBadResource);
}

}  // namespace
}  // namespace marrow::cx7::fw
