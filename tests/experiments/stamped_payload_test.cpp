// SPDX-License-Identifier: Apache-2.0
// A payload that did not arrive, arrived in part, or arrived from an earlier operation is noticed.
#include "experiments/common/stamped_payload.h"

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

#include "util/error.h"

namespace marrow::experiments {
namespace {

using std::chrono::milliseconds;

struct StampedPayloadTest : ::testing::Test {
  std::vector<std::byte> near = std::vector<std::byte>(60);
  std::vector<std::byte> far = std::vector<std::byte>(60);
  StampedPayload payload{near, far};
};

TEST_F(StampedPayloadTest, NothingArrivedIsNoticed) {
  payload.stamp_next();
  EXPECT_THROW(payload.expect_arrived(milliseconds(1)), util::Error);
}

TEST_F(StampedPayloadTest, AnEarlierOperationsBytesAreNoticed) {
  payload.stamp_next();
  far = near;
  payload.stamp_next();
  EXPECT_THROW(payload.expect_arrived(milliseconds(1)), util::Error);
}

TEST_F(StampedPayloadTest, OneWrongByteIsNamed) {
  payload.stamp_next();
  std::memcpy(far.data(), near.data(), near.size());
  far[59] ^= std::byte{1};
  try {
    payload.expect_arrived(milliseconds(1));
    FAIL();
  } catch (const util::Error& problem) {
    EXPECT_THAT(problem.what(), ::testing::HasSubstr("operation 0: byte 59 of 60"));
  }
}

TEST_F(StampedPayloadTest, WhatArrivedWholeIsAccepted) {
  for (int i = 0; i < 100; ++i) {
    payload.stamp_next();
    std::memcpy(far.data(), near.data(), near.size());
    EXPECT_NO_THROW(payload.expect_arrived(milliseconds(1)));
  }
}

TEST(Stamp, NeighboursDifferInEveryWordAndNoWordIsZero) {
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_NE(stamp_word(i), stamp_word(i + 1));
  EXPECT_NE(stamp_word(0), 0U);
  for (std::size_t at = 0; at < 64; at += 8) {
    bool differs = false;
    for (std::size_t k = 0; k < 8; ++k) differs |= stamp_byte(7, at + k) != stamp_byte(8, at + k);
    EXPECT_TRUE(differs) << at;
  }
}

}  // namespace
}  // namespace marrow::experiments
