// SPDX-License-Identifier: Apache-2.0
// Properties of ring arithmetic that every queue relies on, above all at the 16-bit wrap.
#include "util/ring.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "util/clock.h"

namespace marrow::util {
namespace {

TEST(Ring, RefusesSizesThatAreNotPowersOfTwo) {
  for (const unsigned size : {0U, 3U, 6U, 127U}) EXPECT_FALSE(is_pow2(size)) << size;
  for (const unsigned size : {1U, 2U, 64U, 1U << 31}) EXPECT_TRUE(is_pow2(size)) << size;
}

TEST(Ring, MaskKeepsTheSlotOfAnIndex) {
  EXPECT_EQ(64U & mask(64U), 0U);
  EXPECT_EQ(130U & mask(64U), 2U);
  static_assert(std::is_same_v<decltype(mask(std::uint16_t{8})), std::uint16_t>);
}

TEST(Ring, DistanceHasTheSignOfWhoIsAhead) {
  EXPECT_EQ(distance16(5, 3), 2);
  EXPECT_EQ(distance16(3, 5), -2);
  EXPECT_EQ(distance16(1, 0xffff), 2) << "across the wrap";
  EXPECT_EQ(distance16(0xffff, 1), -2) << "across the wrap";
  EXPECT_EQ(distance16(0x7fff, 0), std::numeric_limits<std::int16_t>::max());
  EXPECT_EQ(distance16(0x8000, 0), std::numeric_limits<std::int16_t>::min())
      << "half a lap is as far as 16 bits can tell";
}

TEST(Ring, ExtendFindsTheFullIndexAgainFromItsLow16Bits) {
  for (const std::uint64_t near : {0x8000ULL, 0xffffULL, 0x1'0000ULL, 0x7'fff0ULL, 0xffff'0000'1234ULL}) {
    for (const std::int64_t step : {-32768, -1, 0, 1, 32767}) {
      const std::uint64_t full = near + static_cast<std::uint64_t>(step);
      EXPECT_EQ(extend16(near, static_cast<std::uint16_t>(full)), full) << near << " + " << step;
    }
  }
}

TEST(Clock, NeverGoesBack) {
  auto last = now();
  for (int i = 0; i < 1000; ++i) {
    const auto next = now();
    ASSERT_GE(next, last);
    last = next;
  }
}

}  // namespace
}  // namespace marrow::util
