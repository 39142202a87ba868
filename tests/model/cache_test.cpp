// SPDX-License-Identifier: Apache-2.0
// The connection cache against sequences worked out by hand.
#include <gtest/gtest.h>

#include <string>

#include "model/context_cache.h"
#include "model/profiles.h"

namespace marrow::model {
namespace {

ContextCache cache_of(std::uint32_t entries, std::uint32_t ways, Replacement replacement = Replacement::kLru) {
  auto profile = round_profile();
  profile.cache_entries = entries;
  profile.cache_ways = ways;
  profile.cache_replacement = replacement;
  return {profile, /*seed=*/1};
}

/// "MMHM": what each touch was.
std::string touches(ContextCache cache, const std::string& keys) {
  std::string seen;
  for (const char key : keys) seen += cache.touch(static_cast<std::uint32_t>(key)) ? 'H' : 'M';
  return seen;
}

TEST(ContextCache, OneEntryKnowsOnlyTheLast) {
  EXPECT_EQ(touches(cache_of(1, 1), "AABAA"), "MHMMH");
}

TEST(ContextCache, LruForgetsTheOldest) {
  EXPECT_EQ(touches(cache_of(2, 2), "ABABCAC"), "MMHHMMH");
  EXPECT_EQ(touches(cache_of(3, 3), "ABCABCDA"), "MMMHHHMM");
}

TEST(ContextCache, LruMissesAlwaysOnceARoundIsOneTooLong) {
  EXPECT_EQ(touches(cache_of(4, 4), "ABCDEABCDEABCDE"), std::string(15, 'M'));
}

TEST(ContextCache, RandomReplacementKeepsPartOfTheSameRound) {
  auto cache = cache_of(4, 4, Replacement::kRandom);
  int hits = 0;
  for (int i = 0; i < 5000; ++i) hits += cache.touch(static_cast<std::uint32_t>(i % 5)) ? 1 : 0;
  EXPECT_GT(hits, 2000);
  EXPECT_LT(hits, 4000);
}

// Keys spread over sets by a hash: a set of 8 ways overflows where a Poisson variable does. Half full: 0.8 % of the
// time.
TEST(ContextCache, SetsOverflowBeforeTheCacheIsFull) {
  auto cache = cache_of(8192, 8);
  const auto misses = [&](std::uint32_t keys) {
    int missed = 0;
    for (int round = 0; round < 3; ++round) {
      missed = 0;
      for (std::uint32_t key = 0; key < keys; ++key) missed += cache.touch(key) ? 0 : 1;
    }
    return static_cast<double>(missed) / keys;
  };
  EXPECT_NEAR(misses(3072), 0.0119, 0.01);  // Poisson(3) >= 8
  EXPECT_NEAR(misses(8192), 0.547, 0.03);   // Poisson(8) >= 8
  EXPECT_NEAR(misses(16384), 0.990, 0.01);  // Poisson(16) >= 8
}

}  // namespace
}  // namespace marrow::model
