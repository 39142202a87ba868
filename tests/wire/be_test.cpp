// SPDX-License-Identifier: Apache-2.0
// Big-endian words: bytes by hand, and the C library's own conversion.
#include "marrow/wire/be.h"

#include <endian.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "wire/hex.h"

namespace marrow::wire {
namespace {

TEST(BigEndian, BytesLieMostSignificantFirst) {
  EXPECT_EQ(hex(be16(0x1234)), "1234");
  EXPECT_EQ(hex(be32(0x12345678)), "12345678");
  EXPECT_EQ(hex(be64(0x0123456789abcdef)), "01234567 89abcdef");
}

TEST(BigEndian, AgreesWithTheCLibrary) {
  EXPECT_EQ(be16(0xa1b2).raw, htobe16(0xa1b2));
  EXPECT_EQ(be32(0xa1b2c3d4).raw, htobe32(0xa1b2c3d4));
  EXPECT_EQ(be64(0xa1b2c3d4e5f60718).raw, htobe64(0xa1b2c3d4e5f60718));
}

TEST(BigEndian, ComesBackUnchanged) {
  EXPECT_EQ(be16(0xff00).host(), 0xff00);
  EXPECT_EQ(be32(0xff00ff01).host(), 0xff00ff01u);
  EXPECT_EQ(be64(0x8000000000000001).host(), 0x8000000000000001u);
}

// An unconverted value does not compile: no implicit way in or out.
static_assert(!std::is_convertible_v<std::uint32_t, be32>);
static_assert(!std::is_convertible_v<be32, std::uint32_t>);
static_assert(std::is_trivially_copyable_v<be64>);

}  // namespace
}  // namespace marrow::wire
