// SPDX-License-Identifier: Apache-2.0
// Reading of profiles. One table says which keys there are and what each may hold.
#include "model/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/profile_data.h"
#include "util/error.h"
#include "util/read_file.h"

namespace marrow::model {
namespace {

using Json = nlohmann::json;
constexpr const char* kHint = "data/profiles/cx7-200g.json, which has every key";

[[noreturn]] void refuse(const std::string& sentence, const std::string& hint = kHint) {
  throw util::Error(sentence, util::ErrorKind::kUsage, hint);
}

struct Range {
  double min;
  double max;
};
struct Real {
  const char* key;
  double& (*in)(Profile&);
  Range range;
};
const std::array kReals{
    Real{"doorbell_ns", [](Profile& p) -> double& { return p.doorbell_ns; }, {0, 1e9}},
    Real{"doorbell_to_cqe_ns", [](Profile& p) -> double& { return p.doorbell_to_cqe_ns; }, {0, 1e9}},
    Real{"message_rate_m_per_s", [](Profile& p) -> double& { return p.message_rate_m_per_s; }, {1e-3, 1e6}},
    Real{"link_gb_per_s", [](Profile& p) -> double& { return p.link_gb_per_s; }, {1e-3, 1e6}},
    Real{"packet_overhead_bytes", [](Profile& p) -> double& { return p.packet_overhead_bytes; }, {0, 4096}},
    Real{"shared_rate_m_per_s", [](Profile& p) -> double& { return p.shared_rate_m_per_s; }, {1e-3, 1e6}},
    Real{"send_miss_ns", [](Profile& p) -> double& { return p.send.miss_ns; }, {0, 1e6}},
    Real{"receive_miss_ns", [](Profile& p) -> double& { return p.receive.miss_ns; }, {0, 1e6}},
};

struct Whole {
  const char* key;
  std::uint32_t& (*in)(Profile&);
  Range range;
};
const std::array kWholes{
    Whole{"mtu_bytes", [](Profile& p) -> std::uint32_t& { return p.mtu_bytes; }, {256, 65536}},
    Whole{"turn_wqes", [](Profile& p) -> std::uint32_t& { return p.turn_wqes; }, {1, 65536}},
    Whole{"receive_buffer_messages",
          [](Profile& p) -> std::uint32_t& { return p.receive_buffer_messages; },
          {1, 1 << 24}},
    Whole{"cache_entries", [](Profile& p) -> std::uint32_t& { return p.cache_entries; }, {1, 1 << 24}},
    Whole{"cache_ways", [](Profile& p) -> std::uint32_t& { return p.cache_ways; }, {1, 64}},
    Whole{"send_context_entries", [](Profile& p) -> std::uint32_t& { return p.send.entries; }, {0, 64}},
    Whole{"receive_context_entries", [](Profile& p) -> std::uint32_t& { return p.receive.entries; }, {0, 64}},
};
constexpr std::array<const char*, 3> kWords{"profile", "of", "cache_replacement"};

bool is_known(const std::string& key) {
  const auto same = [&](const auto& field) { return key == field.key; };
  return std::any_of(kReals.begin(), kReals.end(), same) || std::any_of(kWholes.begin(), kWholes.end(), same) ||
         std::find(kWords.begin(), kWords.end(), key) != kWords.end();
}

/// One profile's text under way, with the name that its sentences begin with.
class Reader {
 public:
  Reader(std::string_view text, const std::string& source) : source_(source) {
    json_ = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (json_.is_discarded()) refuse(fmt::format("{} is not JSON", source));
    if (!json_.is_object()) refuse(fmt::format("{} is no profile: it holds no object", source));
  }

  Profile profile() {
    for (const auto& [key, value] : json_.items()) {
      if (!is_known(key)) refuse(fmt::format("{} has a key '{}', which no profile has", source_, key));
    }
    Profile read{.name = word("profile"), .of = word("of")};
    for (const auto& real : kReals) real.in(read) = number(real.key, real.range);
    for (const auto& whole : kWholes) whole.in(read) = integer(whole);
    read.cache_replacement = replacement();
    if (read.cache_entries % read.cache_ways == 0) return read;
    refuse(fmt::format("{}: {} entries are not a multiple of {} ways", source_, read.cache_entries, read.cache_ways));
  }

 private:
  const Json& at(const char* key) {
    const auto found = json_.find(key);
    if (found == json_.end()) refuse(fmt::format("{} has no '{}'", source_, key));
    return *found;
  }
  std::string word(const char* key) {
    const auto& value = at(key);
    if (!value.is_string() || value.get<std::string>().empty()) {
      refuse(fmt::format("{}: '{}' is {}, not a word", source_, key, value.dump()));
    }
    return value;
  }
  double number(const char* key, Range range) {
    const auto& value = at(key);
    if (!value.is_number()) refuse(fmt::format("{}: '{}' is {}, not a number", source_, key, value.dump()));
    const auto number = value.get<double>();
    if (number >= range.min && number <= range.max) return number;
    refuse(fmt::format("{}: '{}' is {}, not within {} and {}", source_, key, value.dump(), range.min, range.max));
  }
  std::uint32_t integer(const Whole& whole) {
    const double value = number(whole.key, whole.range);
    if (value == std::floor(value)) return static_cast<std::uint32_t>(value);
    refuse(fmt::format("{}: '{}' is {}, not a whole number", source_, whole.key, value));
  }
  Replacement replacement() {
    const auto name = word("cache_replacement");
    if (name == "lru") return Replacement::kLru;
    if (name == "random") return Replacement::kRandom;
    refuse(fmt::format("{}: 'cache_replacement' is '{}', neither lru nor random", source_, name));
  }

  std::string source_;
  Json json_;
};

/// Records bear a profile's name; one name must not mean two things.
void refuse_false_name(std::string_view text, const Profile& profile, const std::string& file) {
  for (const std::string_view built_in : kProfileFiles) {
    const auto json = Json::parse(built_in);
    if (json.at("profile") != profile.name || json == Json::parse(text)) continue;
    refuse(fmt::format("{} calls itself {} and differs from the built-in profile of that name", file, profile.name),
           "another name in its key 'profile'");
  }
}

}  // namespace

Profile parse_profile(std::string_view text, const std::string& source) {
  return Reader(text, source).profile();
}

Profile find_profile(const std::string& name_or_file) {
  const bool is_file = name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".json");
  if (is_file) {
    const auto text = util::read_file(name_or_file, util::kMiB, "--profile cx7-200g");
    auto profile = parse_profile(text, name_or_file);
    refuse_false_name(text, profile, name_or_file);
    return profile;
  }
  for (const std::string_view text : kProfileFiles) {
    auto profile = parse_profile(text, "a built-in profile");
    if (profile.name == name_or_file) return profile;
  }
  const auto names = profile_names();
  refuse(fmt::format("no profile '{}'; known: {}", name_or_file, fmt::join(names, ", ")),
         fmt::format("--profile {}, or a file, as ./mine.json", names.front()));
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const std::string_view text : kProfileFiles) names.push_back(parse_profile(text, "a built-in profile").name);
  return names;
}

}  // namespace marrow::model
