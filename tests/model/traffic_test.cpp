// SPDX-License-Identifier: Apache-2.0
// Who is connected to whom, and what makes no sense.
#include "model/traffic.h"

#include <gmock/gmock.h>

#include "model/profiles.h"
#include "util/error.h"

namespace marrow::model {
namespace {

using ::testing::HasSubstr;

std::string refusal(const Traffic& traffic) {
  try {
    refuse_nonsense(round_profile(), traffic);
  } catch (const util::Error& problem) {
    EXPECT_EQ(problem.kind(), util::ErrorKind::kUsage);
    return problem.what();
  }
  return "none";
}

TEST(Traffic, NonsenseIsRefusedInOneSentence) {
  EXPECT_EQ(refusal({.endpoints = 1}), "1 endpoint has nobody to send to");
  EXPECT_EQ(refusal({.endpoints = 4, .peers = 4}), "4 peers are not possible among 4 endpoints");
  EXPECT_EQ(refusal({.connections_per_peer = 2, .warps = 3}), "3 warps can not share 2 connections to a peer");
  EXPECT_EQ(refusal({.bytes = 0}), "a visit without a byte to write is none");
  EXPECT_EQ(refusal({.writes_per_visit = 40}), "40 writes a visit are not a multiple of the turn's 32");
  EXPECT_EQ(refusal({.writes_per_visit = 32, .depth = 16}),
            "a send queue of 16 has no room for the 32 writes of a turn");
  EXPECT_THAT(refusal({.endpoints = 1000, .peers = 999, .connections_per_peer = 1000, .warps = 1}),
              HasSubstr("connections are more than"));
  EXPECT_EQ(refusal({}), "none");
}

TEST(Traffic, EverybodySendsToThoseAfterIt) {
  const auto wiring = wire_up({.endpoints = 4, .peers = 2, .connections_per_peer = 3, .warps = 2});
  ASSERT_EQ(wiring.connections.size(), 24U);
  ASSERT_EQ(wiring.warps.size(), 8U);
  EXPECT_EQ(wiring.warps[0].count, 4U);  // queue pairs 0 and 2 of both peers
  EXPECT_EQ(wiring.warps[1].count, 2U);
  EXPECT_EQ(wiring.connections[0].receiver, 1U);
  EXPECT_EQ(wiring.connections[1].receiver, 2U);
  EXPECT_EQ(wiring.connections[4].receiver, 2U);  // the second warp begins with the second peer
  EXPECT_EQ(wiring.connections[23].sender, 3U);
}

TEST(Traffic, AContextHasOneNumberAtEachEnd) {
  const auto wiring = wire_up({.pattern = Pattern::kManyToOne, .endpoints = 5, .peers = 4, .connections_per_peer = 2});
  ASSERT_EQ(wiring.connections.size(), 8U);
  for (std::uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(wiring.connections[i].sender, 1 + i / 2);
    EXPECT_EQ(wiring.connections[i].receiver, 0U);
    EXPECT_EQ(wiring.connections[i].send_context, i % 2);
    EXPECT_EQ(wiring.connections[i].receive_context, i);
  }
}

TEST(Traffic, OneSenderHasManyReceivers) {
  const auto wiring = wire_up({.pattern = Pattern::kOneToMany, .endpoints = 8, .peers = 4});
  ASSERT_EQ(wiring.connections.size(), 4U);
  for (const auto& connection : wiring.connections) EXPECT_EQ(connection.sender, 0U);
}

}  // namespace
}  // namespace marrow::model
