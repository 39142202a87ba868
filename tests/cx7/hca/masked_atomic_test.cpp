// SPDX-License-Identifier: Apache-2.0
// Masked atomics of 4 and 8 bytes: shapes that are none, and what the masks leave alone.
#include "marrow/wire/masked_atomic.h"

#include <gmock/gmock.h>

#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

using wire::be32;
using wire::be64;
using wire::Opcode;
using wire::Syndrome;

class MaskedAtomic : public testing::Test {
 protected:
  /// One work request with `operand` on the word at `offset` of b's buffer; the old value comes to the start of a's.
  template <class Operand>
  Syndrome run(Opcode opcode, std::uint8_t opmod, const Operand& operand, std::size_t offset, std::uint32_t bytes) {
    struct Wqe {
      wire::CtrlSegment ctrl;
      wire::RemoteSegment remote;
      Operand operand;
      wire::DataSegment data;
    };
    auto post = nic.a.next();
    post.opmod = opmod;
    const auto ds = static_cast<std::uint32_t>(sizeof(Wqe) / wire::kDsBytes);
    nic.a.put(Wqe{wire::ctrl_segment(post, opcode, ds), wire::remote_segment(nic.b.remote(offset)), operand,
                  wire::data_segment(nic.a.local(), bytes)});
    nic.a.announce();
    nic.run();
    const auto* cqe = nic.a.poll();
    EXPECT_NE(cqe, nullptr);
    return cqe != nullptr && cqe->is_error() ? cqe->syndrome : Syndrome::kNone;
  }
  template <class Word>
  Word at(const Side& side, std::size_t offset = 0) {
    Word word = 0;
    std::memcpy(&word, side.buffer.data + offset, sizeof word);
    return word;
  }
  template <class Word>
  void set(Word word, std::size_t offset = 0) {
    std::memcpy(nic.b.buffer.data + offset, &word, sizeof word);
  }

  TwoSides nic;
};

TEST_F(MaskedAtomic, UnknownModifierIsRefused) {
  EXPECT_EQ(run(Opcode::kMaskedFetchAdd, 0x0a, wire::MaskedAdd8{}, 0, 8), Syndrome::kLocalQpOperation);
}

TEST_F(MaskedAtomic, ResultOfAnotherWidthIsRefused) {
  EXPECT_EQ(run(Opcode::kMaskedFetchAdd, wire::kMasked4, wire::MaskedAdd4{be32(1), be32(0), {}}, 0, 8),
            Syndrome::kLocalQpOperation);
}

TEST_F(MaskedAtomic, MisalignedIsAnInvalidRequest) {
  EXPECT_EQ(run(Opcode::kMaskedFetchAdd, wire::kMasked4, wire::MaskedAdd4{be32(1), be32(0), {}}, 2, 4),
            Syndrome::kRemoteInvalidRequest);
}

TEST_F(MaskedAtomic, FourByteAddLeavesItsNeighbourAlone) {
  set(0xffffffff00000007, 0);
  EXPECT_EQ(run(Opcode::kMaskedFetchAdd, wire::kMasked4, wire::MaskedAdd4{be32(5), be32(0), {}}, 4, 4),
            Syndrome::kNone);
  EXPECT_EQ(at<std::uint64_t>(nic.b), 0x0000000400000007u) << "no carry leaves the four bytes";
  EXPECT_EQ(at<std::uint32_t>(nic.a), 0xffffffffu);
  EXPECT_EQ(run(Opcode::kMaskedFetchAdd, wire::kMasked4, wire::MaskedAdd4{be32(1), be32(0), {}}, 0, 4),
            Syndrome::kNone);
  EXPECT_EQ(at<std::uint32_t>(nic.a), be32(7).raw) << "four bytes come back big-endian";
}

TEST_F(MaskedAtomic, BoundaryOfAllBitsIsExclusiveOr) {
  set(std::uint64_t{0xff00ff00ff00ff00});
  EXPECT_EQ(run(Opcode::kMaskedFetchAdd, wire::kMasked8,
                wire::MaskedAdd8{be64(0x0ff00ff00ff00ff0), be64(~std::uint64_t{0})}, 0, 8),
            Syndrome::kNone);
  EXPECT_EQ(at<std::uint64_t>(nic.b), 0xf0f0f0f0f0f0f0f0u);
  EXPECT_EQ(at<std::uint64_t>(nic.a), 0xff00ff00ff00ff00u);
}

TEST_F(MaskedAtomic, SwapTouchesTheBitsOfItsMask) {
  set(std::uint64_t{0x1111222233334444});
  const wire::MaskedSwap8 differs{be64(0), be64(0x5555), be64(~std::uint64_t{0}), be64(0xffff)};
  EXPECT_EQ(run(Opcode::kMaskedCompareSwap, wire::kMasked8, differs, 0, 8), Syndrome::kNone);
  EXPECT_EQ(at<std::uint64_t>(nic.b), 0x1111222233334444u) << "not equal under the compare mask";
  const wire::MaskedSwap8 same{be64(0xaaaabbbbccccdddd), be64(0x4444), be64(0xffff0000), be64(0xffff)};
  EXPECT_EQ(run(Opcode::kMaskedCompareSwap, wire::kMasked8, same, 0, 8), Syndrome::kNone);
  EXPECT_EQ(at<std::uint64_t>(nic.b), 0x11112222cccc4444u);
}

TEST_F(MaskedAtomic, FourByteSwap) {
  set(std::uint64_t{0x1111222233334444});
  const wire::MaskedSwap4 swap{be32(0xaaaabbbb), be32(0), be32(0xffffffff), be32(0)};
  EXPECT_EQ(run(Opcode::kMaskedCompareSwap, wire::kMasked4, swap, 0, 4), Syndrome::kNone);
  EXPECT_EQ(at<std::uint64_t>(nic.b), 0x11112222aaaabbbbu);
  EXPECT_EQ(at<std::uint32_t>(nic.a), be32(0x33334444).raw);
}

}  // namespace
}  // namespace marrow::cx7::test
