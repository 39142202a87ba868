// SPDX-License-Identifier: Apache-2.0
// What is no profile is refused in one sentence; what ships is one.
#include "model/profile.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "util/error.h"

namespace marrow::model {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json whole() {
  return {{"profile", "mine"},
          {"of", "a NIC"},
          {"doorbell_ns", 75.5},
          {"doorbell_to_cqe_ns", 3300},
          {"message_rate_m_per_s", 200},
          {"link_gb_per_s", 25},
          {"packet_overhead_bytes", 50},
          {"mtu_bytes", 4096},
          {"shared_rate_m_per_s", 300},
          {"turn_wqes", 32},
          {"receive_buffer_messages", 2048},
          {"cache_entries", 800},
          {"cache_ways", 8},
          {"cache_replacement", "random"},
          {"send_context_entries", 9},
          {"send_miss_ns", 1.5},
          {"receive_context_entries", 1},
          {"receive_miss_ns", 210}};
}

std::string refusal(const std::string& text) {
  try {
    (void)parse_profile(text, "p.json");
  } catch (const util::Error& problem) {
    EXPECT_EQ(problem.kind(), util::ErrorKind::kUsage);
    EXPECT_FALSE(problem.hint().empty());
    return problem.what();
  }
  return "none";
}

std::string refusal_with(const std::string& key, const json& value) {
  auto changed = whole();
  changed[key] = value;
  return refusal(changed.dump());
}

TEST(Profile, WhatIsNoProfileIsRefused) {
  EXPECT_EQ(refusal("{"), "p.json is not JSON");
  EXPECT_EQ(refusal("[]"), "p.json is no profile: it holds no object");
  EXPECT_EQ(refusal_with("send_mis_ns", 1), "p.json has a key 'send_mis_ns', which no profile has");
  const auto all = whole();
  for (const auto& [key, value] : all.items()) {
    auto without = all;
    without.erase(key);
    EXPECT_EQ(refusal(without.dump()), "p.json has no '" + key + "'");
  }
}

TEST(Profile, AValueOutsideItsRangeIsRefused) {
  EXPECT_EQ(refusal_with("receive_miss_ns", -1), "p.json: 'receive_miss_ns' is -1, not within 0 and 1000000");
  EXPECT_EQ(refusal_with("link_gb_per_s", 0), "p.json: 'link_gb_per_s' is 0, not within 0.001 and 1000000");
  EXPECT_EQ(refusal_with("turn_wqes", 1.5), "p.json: 'turn_wqes' is 1.5, not a whole number");
  EXPECT_EQ(refusal_with("turn_wqes", "32"), "p.json: 'turn_wqes' is \"32\", not a number");
  EXPECT_EQ(refusal_with("of", ""), "p.json: 'of' is \"\", not a word");
  EXPECT_EQ(refusal_with("cache_replacement", "fifo"), "p.json: 'cache_replacement' is 'fifo', neither lru nor random");
  EXPECT_EQ(refusal_with("cache_ways", 7), "p.json: 800 entries are not a multiple of 7 ways");
}

TEST(Profile, EveryKeyReachesItsPlace) {
  const auto profile = parse_profile(whole().dump(), "p.json");
  EXPECT_EQ(profile.name, "mine");
  EXPECT_EQ(profile.doorbell_ns, 75.5);
  EXPECT_EQ(profile.doorbell_to_cqe_ns, 3300);
  EXPECT_EQ(profile.message_rate_m_per_s, 200);
  EXPECT_EQ(profile.link_gb_per_s, 25);
  EXPECT_EQ(profile.packet_overhead_bytes, 50);
  EXPECT_EQ(profile.mtu_bytes, 4096U);
  EXPECT_EQ(profile.shared_rate_m_per_s, 300);
  EXPECT_EQ(profile.turn_wqes, 32U);
  EXPECT_EQ(profile.receive_buffer_messages, 2048U);
  EXPECT_EQ(profile.cache_entries, 800U);
  EXPECT_EQ(profile.cache_ways, 8U);
  EXPECT_EQ(profile.cache_replacement, Replacement::kRandom);
  EXPECT_EQ(profile.send.entries, 9U);
  EXPECT_EQ(profile.send.miss_ns, 1.5);
  EXPECT_EQ(profile.receive.entries, 1U);
  EXPECT_EQ(profile.receive.miss_ns, 210);
}

class ProfileFile : public ::testing::Test {
 protected:
  void SetUp() override { file_ = ::testing::TempDir() + "profile_" + std::to_string(::getpid()) + ".json"; }
  void TearDown() override { std::remove(file_.c_str()); }
  std::string refusal_of(const json& content) {
    std::ofstream(file_) << content;
    try {
      return find_profile(file_).name;
    } catch (const util::Error& problem) {
      return problem.what();
    }
  }
  std::string file_;
};

TEST_F(ProfileFile, OneNameMeansOneThing) {
  auto other = whole();
  other["profile"] = "cx7-200g";
  EXPECT_THAT(refusal_of(other), HasSubstr("calls itself cx7-200g and differs from the built-in profile of that name"));
  EXPECT_EQ(refusal_of(whole()), "mine");
}

TEST(Profile, AnUnknownNameOrFileIsRefused) {
  EXPECT_THROW((void)find_profile("cx8"), util::Error);
  EXPECT_THROW((void)find_profile("./nowhere.json"), util::Error);
  EXPECT_EQ(find_profile("cx7-200g").name, "cx7-200g");
}

}  // namespace
}  // namespace marrow::model
