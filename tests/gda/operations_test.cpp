// SPDX-License-Identifier: Apache-2.0
// What a lane can post beside plain writes: immediates, masked atomics, a put with its signal, and all of it over DC.
// The NIC of the tests reads the bytes by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "gda/fake_nic.h"
#include "gda/tested.h"
#include "marrow/gda/shared_queue.h"
#include "marrow/gda/signal.h"

namespace marrow::gda {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Long = Inline<GpuFence, 92>;

TEST(WriteImm, CarriesItsImmediate) {
  FakeNic nic;
  std::uint64_t from = 7, to = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  const auto write = [&](const Slot& s) {
    sq.write_imm(s, {.to = nic.remote(to), .from = nic.local(from), .bytes = 8}, 0xcafef00d);
  };
  EXPECT_TRUE(one(nic, sq, 1, write).ok());
  EXPECT_EQ(to, 7u);
  EXPECT_THAT(nic.immediates(), ElementsAre(0xcafef00d));
}

// --- masked atomics -------------------------------------------------------------------------------------------------

TEST(Masked, Add4TouchesFourBytes) {
  FakeNic nic;
  std::uint64_t there = 0x11111111'ffffffff, old = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  const auto add = [&](const Slot& s) {
    sq.masked_add4(s, {.at = nic.remote(there), .result = nic.local(old), .add = 2});
  };
  EXPECT_TRUE(one(nic, sq, 1, add).ok());
  EXPECT_EQ(there, 0x11111111'00000001u) << "no carry into the neighbour";
  EXPECT_EQ(old, 0xffffffffu);
  EXPECT_THAT(nic.complaints(), IsEmpty());
}

TEST(Masked, ABoundaryOfOnesIsXor) {
  FakeNic nic;
  std::uint64_t there = 0b1100, old = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  const auto add = [&](const Slot& s) {
    sq.masked_add8(s, {.at = nic.remote(there), .result = nic.local(old), .add = 0b1010, .boundary = ~0ull});
  };
  EXPECT_TRUE(one(nic, sq, 1, add).ok());
  EXPECT_EQ(there, 0b0110u);
  EXPECT_EQ(old, 0b1100u);
}

TEST(Masked, SwapSetsTheBitsOfItsMask) {
  FakeNic nic;
  std::uint64_t there = 0x1234'5678'9abc'def0, old = 0;
  SendQueue<Tested<Long>> sq{nic.qp()};
  MaskedSwap swap{.at = nic.remote(there), .result = nic.local(old), .swap = ~0ull, .swap_mask = 0xff};
  EXPECT_TRUE(one(nic, sq, 2, [&](const Slot& s) { sq.masked_swap8(s, swap); }).ok());
  EXPECT_EQ(there, 0x1234'5678'9abc'deffu);
  EXPECT_EQ(old, 0x1234'5678'9abc'def0u);
  swap.compare_mask = 0xff00;
  swap.compare = 0xdd00;
  EXPECT_TRUE(one(nic, sq, 2, [&](const Slot& s) { sq.masked_swap8(s, swap); }).ok());
  EXPECT_EQ(there, 0x1234'5678'9abc'deffu) << "the compare failed";
  swap = {.at = nic.remote(there), .result = nic.local(old), .swap = 5};
  EXPECT_TRUE(one(nic, sq, 1, [&](const Slot& s) { sq.masked_swap4(s, swap); }).ok());
  EXPECT_EQ(there, 0x1234'5678'0000'0005u);
  EXPECT_THAT(nic.complaints(), IsEmpty());
}

TEST(Masked, ASwapOf8InASlotOfOneIsRefused) {
  FakeNic nic;
  std::uint64_t there = 1, old = 0;
  SendQueue<Tested<Long>> sq{nic.qp()};
  const MaskedSwap swap{.at = nic.remote(there), .result = nic.local(old)};
  EXPECT_EQ(one(nic, sq, 1, [&](const Slot& s) { sq.masked_swap8(s, swap); }).status, Status::kBadRequest);
  EXPECT_EQ(there, 1u);
}

TEST(Nops, TakeTheirTurn) {
  FakeNic nic;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  EXPECT_TRUE(one(nic, sq, 1, [&](const Slot& s) { sq.nop(s); }).ok());
  EXPECT_TRUE(one(nic, sq, 4, [&](const Slot& s) { sq.nop(s); }).ok());
  EXPECT_EQ(nic.nops(), 2u);
}

TEST(Values, OfFourBytesTouchFour) {
  FakeNic nic;
  std::uint64_t to = ~0ull;
  SendQueue<Tested<Stores<GpuFence, WqeStore::kRelaxedWord>>> sq{nic.qp()};
  EXPECT_TRUE(one(nic, sq, 1, [&](const Slot& s) { sq.write_value4(s, nic.remote(to), 0x55); }).ok());
  EXPECT_EQ(to, 0xffffffff'00000055u);
}

// --- a put and its signal -------------------------------------------------------------------------------------------

template <class P>
void signal_rounds(std::uint32_t av_ds, std::uint32_t bytes) {
  FakeNic nic({.sq_wqebbs = 16, .start = 65'530, .av_ds = av_ds});
  wire::AddressVector av = wire::infiniband_av({.key = FakeNic::kDcKey, .dctn = 9, .lid = 1});
  std::uint64_t flag = 0, old = 0;
  std::array<std::byte, 96> from{}, to{};
  SendQueue<Tested<P>, CountingProbe> sq{nic.qp()};
  if constexpr (P::transport != Transport::kRc) sq.aim(av);
  for (std::uint64_t round = 1; round <= 30; ++round) {
    from.fill(static_cast<std::byte>(round));
    const auto slots = sq.reserve(kSolo, put_with_signal_room<P>(2, bytes));
    ASSERT_TRUE(slots.ok());
    const std::uint64_t value = P::notify == Notify::kFetchAdd || P::notify == Notify::kFetchAdd4 ? 1 : 2 * round;
    for (std::uint32_t i = 0; i < 2; ++i) {
      put_with_signal(sq, slots, i, {nic.remote(to), nic.local(from), bytes},
                      {nic.remote(flag), nic.local(old), value});
    }
    const auto ticket = sq.submit(kSolo, slots);
    ASSERT_EQ(nic.step(2), 2u);
    ASSERT_EQ(to[bytes - 1], static_cast<std::byte>(round)) << "the put";
    ASSERT_NE(flag, 2 * (round - 1)) << "and its signal right behind";
    nic.step();
    ASSERT_TRUE(sq.wait(kSolo, ticket).ok());
    ASSERT_EQ(flag, 2 * round);
  }
  EXPECT_EQ(sq.probe().counts.doorbells, 30u) << "one doorbell for both";
  EXPECT_THAT(nic.complaints(), IsEmpty());
}

TEST(PutWithSignal, ByEachKindOfSignal) {
  signal_rounds<GpuFence>(0, 8);
  signal_rounds<Notifies<GpuFence, Notify::kFetchAdd4>>(0, 8);
  signal_rounds<Notifies<GpuFence, Notify::kWrite8>>(0, 8);
  signal_rounds<Notifies<GpuFence, Notify::kWrite4>>(0, 8);
  signal_rounds<SignalEvery<Long>>(0, 64);
  signal_rounds<Shared<GpuFence>>(0, 8);
  signal_rounds<Pointer<Locked<GpuFence>>>(0, 96);
}
TEST(PutWithSignal, OverDcWhereAnAtomicIsLongerThanAPut) {
  signal_rounds<Via<GpuFence, Transport::kDcCompact>>(1, 8);
  signal_rounds<Via<SignalEvery<GpuFence>, Transport::kDcCompact>>(1, 8);
  signal_rounds<Via<Pointer<GpuFence>, Transport::kDcFull>>(3, 64);
  signal_rounds<Via<Shared<SignalEvery<Long>>, Transport::kDcFull>>(3, 40);
}

// --- DC -------------------------------------------------------------------------------------------------------------

template <class P>
class Dc : public testing::Test {};
using Forms =
    testing::Types<Via<Inline<GpuFence, 150>, Transport::kDcCompact>, Via<Inline<GpuFence, 150>, Transport::kDcFull>,
                   Via<Pointer<GpuFence>, Transport::kDcCompact>, Via<Pointer<GpuFence>, Transport::kDcFull>>;
TYPED_TEST_SUITE(Dc, Forms);

TYPED_TEST(Dc, AWqeWithoutATargetIsRefused) {
  FakeNic nic({.av_ds = kAvDs<TypeParam>});
  std::uint64_t to = 0;
  SendQueue<Tested<TypeParam>> sq{nic.qp()};
  const auto write = [&](const Slot& s) { sq.write(s, {nic.remote(to), nic.local(to), 8}); };
  EXPECT_EQ(one(nic, sq, write_wqebbs<TypeParam>(8), write).status, Status::kBadRequest);
  EXPECT_EQ(nic.nops(), 1u);
}

TYPED_TEST(Dc, EachWqeGoesWhereItsLaneAims) {
  FakeNic nic({.sq_wqebbs = 32, .start = 65'530, .av_ds = kAvDs<TypeParam>});
  const auto bit = kAvDs<TypeParam> == 3 ? 0x80000000u : 0;
  const wire::AddressVector avs[2] = {wire::infiniband_av({FakeNic::kDcKey, 0x111111, 1}),
                                      wire::infiniband_av({FakeNic::kDcKey, 0x222222, 2})};
  std::uint64_t from = 9, to[2] = {}, old = 0;
  SendQueue<Tested<TypeParam>> sq{nic.qp()};
  for (int lap = 0; lap < 20; ++lap, ++from) {
    const auto slots = sq.reserve(kSolo, Room{2, write_wqebbs<TypeParam>(8)});
    for (std::uint32_t i = 0; i < 2; ++i) {
      sq.aim(avs[i]);
      sq.write(slots[i], {nic.remote(to[i]), nic.local(from), 8});
    }
    const auto ticket = sq.submit(kSolo, slots);
    nic.step();
    ASSERT_TRUE(sq.wait(kSolo, ticket).ok());
    ASSERT_EQ(to[0], from);
    ASSERT_EQ(to[1], from);
  }
  const auto add = [&](const Slot& s) { sq.fetch_add(s, {nic.remote(to[1]), nic.local(old), 5}); };
  EXPECT_TRUE(one(nic, sq, atomic_wqebbs<TypeParam>(), add).ok());
  EXPECT_EQ(to[1], from + 4);
  EXPECT_EQ(old, from - 1);
  const auto read = [&](const Slot& s) { sq.read(s, {nic.remote(to[1]), nic.local(old), 8}); };
  EXPECT_TRUE(one(nic, sq, kAvDs<TypeParam> == 3 ? 2 : 1, read).ok());
  EXPECT_EQ(old, to[1]);
  EXPECT_EQ(nic.targets()[0], 0x111111u | bit);
  EXPECT_EQ(nic.targets()[1], 0x222222u | bit);
  EXPECT_THAT(nic.complaints(), IsEmpty());
}

TEST(DcSizes, AddressesTakeTheirRoom) {
  using Compact = Via<Inline<GpuFence, 204>, Transport::kDcCompact>;
  using Full = Via<Inline<GpuFence, 172>, Transport::kDcFull>;
  EXPECT_EQ(write_wqebbs<GpuFence>(28), 1u);
  EXPECT_EQ(write_wqebbs<Compact>(12), 1u);
  EXPECT_EQ(write_wqebbs<Compact>(13), 2u);
  EXPECT_EQ(write_wqebbs<Compact>(204), 4u);
  EXPECT_EQ(write_wqebbs<Full>(44), 2u);
  EXPECT_EQ(write_wqebbs<Full>(45), 3u);
  EXPECT_EQ(write_wqebbs<Full>(172), 4u);
  EXPECT_EQ((write_wqebbs<Via<Pointer<GpuFence>, Transport::kDcFull>>(4096)), 2u);
  EXPECT_EQ(atomic_wqebbs<GpuFence>(), 1u);
  EXPECT_EQ(atomic_wqebbs<Compact>(), 2u);
  EXPECT_EQ(atomic_wqebbs<Full>(), 2u);
}

// The extension of the 48-byte form stands where the NIC looks for it, across the end of the ring too.
TEST(DcBytes, TheFullFormIsTheAddressVectorItself) {
  FakeNic nic({.sq_wqebbs = 4, .av_ds = 3});
  std::uint64_t to = 0;
  const auto av = wire::ethernet_av({FakeNic::kDcKey, 7}, {.mac = {1, 2, 3, 4, 5, 6}, .gid = {0xaa, 0xbb}}, 0xc000);
  using P = Via<GpuFence, Transport::kDcFull>;
  SendQueue<Tested<P>> sq{nic.qp()};
  sq.aim(av);
  const auto slots = sq.reserve(kSolo, Room{1, write_wqebbs<P>(8)});
  sq.write_value(slots[0], nic.remote(to), 3);
  EXPECT_EQ(std::memcmp(nic.qp().sq + 16, &av, sizeof av), 0);
  static_cast<void>(sq.submit(kSolo, slots));
  nic.step();
  EXPECT_EQ(to, 3u);
  EXPECT_THAT(nic.complaints(), IsEmpty());
}

}  // namespace
}  // namespace marrow::gda
