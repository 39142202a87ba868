// SPDX-License-Identifier: Apache-2.0
// Times and counts of traffic that is small enough to follow by hand, and limits that large traffic must reach.
#include "model/engine.h"

#include <gtest/gtest.h>

#include "model/profiles.h"

namespace marrow::model {
namespace {

constexpr Traffic kOneConnection{.pattern = Pattern::kOneToMany, .depth = 1};

// 100 doorbell, 10 + 5 unit, 20 port, 500 there (the port of the receiver works meanwhile), 10 + 50 unit.
TEST(Engine, TheFirstMessageTakesWhatItsStationsTake) {
  Engine engine(round_profile(), kOneConnection);
  engine.run(1);
  EXPECT_DOUBLE_EQ(engine.now_ns(), 695);
  EXPECT_EQ(engine.counts(0).sent, 1U);
  EXPECT_EQ(engine.counts(1).received, 1U);
}

// The queue of one is free 500 ns later; both contexts are in the caches now: 695 + 500 + 100 + 10 + 20 + 500 + 10.
TEST(Engine, TheSecondWaitsForRoomAndHits) {
  Engine engine(round_profile(), kOneConnection);
  engine.run(2);
  EXPECT_DOUBLE_EQ(engine.now_ns(), 1835);
  EXPECT_EQ(engine.counts(0).send_misses, 1U);
  EXPECT_EQ(engine.counts(1).receive_misses, 1U);
}

TEST(Engine, ACacheOfOneMissesWithTwoConnectionsAndNotWithOne) {
  auto profile = round_profile();
  profile.cache_entries = 1;
  profile.cache_ways = 1;
  Engine one(profile, {.pattern = Pattern::kOneToMany});
  one.run(100);
  EXPECT_EQ(one.counts(1).receive_misses, 1U);
  Engine two(profile, {.pattern = Pattern::kOneToMany, .connections_per_peer = 2});
  two.run(100);
  EXPECT_EQ(two.counts(1).receive_misses, 100U);
  EXPECT_EQ(two.counts(0).send_misses, two.counts(0).sent);
}

TEST(Engine, AVisitOfAWholeTurnMissesOnceATurn) {
  auto profile = round_profile();
  profile.cache_entries = 1;
  profile.cache_ways = 1;
  Engine engine(profile, {.pattern = Pattern::kOneToMany, .connections_per_peer = 2, .writes_per_visit = 32});
  engine.run(100);
  EXPECT_EQ(engine.counts(1).received, 3200U);
  EXPECT_EQ(engine.counts(1).receive_misses, 100U);
}

TEST(Engine, EveryEntryOfAContextIsFetchedOnItsOwn) {
  auto profile = round_profile();
  profile.send.entries = 9;
  Engine engine(profile, kOneConnection);
  engine.run(1);
  EXPECT_DOUBLE_EQ(engine.now_ns(), 695 + 8 * 5);
  EXPECT_EQ(engine.counts(0).send_misses, 9U);
}

TEST(Engine, NothingIsLostBetweenTheEnds) {
  Engine engine(round_profile(),
                {.endpoints = 5, .peers = 3, .connections_per_peer = 4, .warps = 2, .writes_per_visit = 64});
  engine.run(10'000);
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (std::uint32_t i = 0; i < 5; ++i) {
    sent += engine.counts(i).sent;
    received += engine.counts(i).received;
  }
  EXPECT_EQ(received, 320'000U);
  EXPECT_GE(sent, received);
  EXPECT_LE(sent, received + 5 * 1024);  // under way: no more than the receive buffers hold
}

TEST(Rates, TheSlowestStationGivesTheRate) {
  const auto rate = [](const Profile& profile, const Traffic& traffic) {
    return steady_rates(profile, traffic).sent_m_per_s.front();
  };
  auto profile = round_profile();
  Traffic traffic{.pattern = Pattern::kOneToMany, .connections_per_peer = 4, .warps = 4, .writes_per_visit = 32};
  EXPECT_NEAR(rate(profile, traffic), 50, 0.01);  // the port
  traffic.bytes = 4096;
  profile.link_gb_per_s = 4.096;  // 1000 ns a message
  EXPECT_NEAR(rate(profile, traffic), 1, 0.001);
  traffic.bytes = 4097;  // a packet more, and its overhead
  profile.packet_overhead_bytes = 100;
  EXPECT_NEAR(rate(profile, traffic), 1e3 / ((4097 + 200) / 4.096), 0.001);
  profile = round_profile();
  profile.shared_rate_m_per_s = 25;  // the unit: 40 ns
  traffic.bytes = 8;
  EXPECT_NEAR(rate(profile, traffic), 25, 0.01);
  traffic.writes_per_visit = 1;  // the doorbells: 100 ns
  EXPECT_NEAR(rate(profile, traffic), 10, 0.01);
}

TEST(Rates, BothDirectionsShareTheUnit) {
  auto profile = round_profile();
  profile.shared_rate_m_per_s = 60;
  Traffic traffic{.connections_per_peer = 4, .warps = 4, .writes_per_visit = 32};
  for (const double rate : steady_rates(profile, traffic).sent_m_per_s) EXPECT_NEAR(rate, 30, 0.05);
}

// A receive buffer that is full holds the senders back; four of them share the one port.
TEST(Rates, ManySendersShareTheReceiversPort) {
  const auto rates = steady_rates(round_profile(), {.pattern = Pattern::kManyToOne,
                                                    .endpoints = 5,
                                                    .peers = 4,
                                                    .connections_per_peer = 4,
                                                    .warps = 4,
                                                    .writes_per_visit = 32});
  ASSERT_EQ(rates.received_m_per_s.size(), 1U);
  EXPECT_NEAR(rates.received_m_per_s[0], 50, 0.05);
  for (const double rate : rates.sent_m_per_s) EXPECT_NEAR(rate, 12.5, 0.1);
}

TEST(Rates, ASeedGivesTheSameRunAndAnotherOneAnother) {
  auto profile = round_profile();
  profile.cache_entries = 128;
  Traffic traffic{.order = Order::kRandom, .endpoints = 3, .peers = 2, .connections_per_peer = 64, .warps = 4};
  const auto first = steady_rates(profile, traffic);
  const auto again = steady_rates(profile, traffic);
  EXPECT_EQ(first.sent_m_per_s, again.sent_m_per_s);
  EXPECT_EQ(first.receive_misses, again.receive_misses);
  traffic.seed = 2;
  EXPECT_NE(first.receive_misses, steady_rates(profile, traffic).receive_misses);
}

}  // namespace
}  // namespace marrow::model
