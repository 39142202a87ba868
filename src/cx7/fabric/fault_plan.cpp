// SPDX-License-Identifier: Apache-2.0
// See fault_plan.h. A rule is a word and its settings, each as name=value; a table says which word has which.
#include "cx7/fabric/fault_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>

#include "util/error.h"

namespace marrow::cx7 {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kLargestFile = 64 << 10;
constexpr std::uint32_t kMostDepth = 1024;
constexpr nanoseconds kLongest = std::chrono::hours(1);

/// Settings that a rule may have, as bits.
enum Setting : unsigned { kRate = 1, kOf = 2, kTime = 4, kAt = 8, kFor = 16, kDepth = 32, kPsn = 64 };
constexpr std::array<std::string_view, 7> kSettingNames{"rate", "of", "time", "at", "for", "depth", "psn"};

struct Word {
  std::string_view name;
  FaultKind kind;
  unsigned needs;
  unsigned may;
  std::string_view example;
};
constexpr std::array<Word, 12> kWords{{
    {"loss", FaultKind::kLoss, kRate, kOf, "loss rate=1%"},
    {"duplicate", FaultKind::kDuplicate, kRate, kOf, "duplicate rate=1%"},
    {"reorder", FaultKind::kReorder, kRate | kDepth, kOf, "reorder rate=1% depth=3"},
    {"delay", FaultKind::kDelay, kRate | kTime, kOf, "delay rate=1% time=200us"},
    {"corrupt", FaultKind::kCorrupt, kRate, kOf, "corrupt rate=0.1%"},
    {"slow-responder", FaultKind::kSlowResponder, kRate | kTime, 0, "slow-responder rate=0.1% time=2ms"},
    {"black-hole", FaultKind::kBlackHole, kAt | kFor, 0, "black-hole at=1s for=500ms"},
    {"down", FaultKind::kDown, kAt | kFor, 0, "down at=1s for=500ms"},
    {"rnr-storm", FaultKind::kRnrStorm, kRate | kTime, 0, "rnr-storm rate=0.1% time=1ms"},
    {"held-cqe", FaultKind::kHeldCqe, kRate | kTime, 0, "held-cqe rate=1% time=200us"},
    {"late-doorbell", FaultKind::kLateDoorbell, kRate | kTime, 0, "late-doorbell rate=1% time=200us"},
    {"start", FaultKind::kStart, kPsn, 0, "start psn=0xfffff0"},
}};

[[noreturn]] void refuse(const std::string& sentence, std::string_view hint) {
  throw util::Error(sentence, util::ErrorKind::kUsage, std::string(hint));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const auto from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

/// A number and what stands behind it; nothing where no finite number stands.
std::optional<double> number_before(std::string_view text, std::string_view& unit) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  unit = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<double> parse_rate(std::string_view text) {
  std::string_view unit;
  auto value = number_before(text, unit);
  if (!value || (!unit.empty() && unit != "%")) return std::nullopt;
  if (unit == "%") *value /= 100;
  return *value <= 1 ? value : std::nullopt;
}

std::optional<nanoseconds> parse_time(std::string_view text) {
  struct Unit {
    std::string_view name;
    double nanoseconds;
  };
  constexpr std::array<Unit, 4> kUnits{{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  std::string_view name;
  const auto value = number_before(text, name);
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return u.name == name; });
  if (!value || unit == kUnits.end()) return std::nullopt;
  const double ns = *value * unit->nanoseconds;
  if (ns > static_cast<double>(kLongest.count())) return std::nullopt;
  return nanoseconds(static_cast<std::int64_t>(ns));
}

std::optional<std::uint32_t> parse_depth(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0 || value > kMostDepth) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> parse_psn(std::string_view text) {
  constexpr std::uint32_t kLast = 0xffffff;
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size() || value > kLast) return std::nullopt;
  return value;
}

template <class Value>
bool keep(const std::optional<Value>& value, Value& to) {
  if (value) to = *value;
  return value.has_value();
}

bool parse_of(std::string_view text, FaultOf& to) {
  constexpr std::array<std::string_view, 3> kNames{"all", "requests", "answers"};
  const auto at = std::find(kNames.begin(), kNames.end(), text);
  if (at == kNames.end()) return false;
  to = static_cast<FaultOf>(at - kNames.begin());
  return true;
}

bool set(FaultRule& rule, unsigned setting, std::string_view value) {
  switch (setting) {
    case kRate:
      return keep(parse_rate(value), rule.rate);
    case kOf:
      return parse_of(value, rule.of);
    case kTime:
    case kFor:
      return keep(parse_time(value), rule.time);
    case kAt:
      return keep(parse_time(value), rule.at);
    case kPsn:
      return keep(parse_psn(value), rule.psn);
    default:
      return keep(parse_depth(value), rule.depth);
  }
}

std::string_view next_word(std::string_view& text) {
  text = trimmed(text);
  const auto end = std::min(text.find_first_of(" \t"), text.size());
  const auto word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

FaultRule parse_rule(std::string_view text, const std::string& place) {
  const auto name = next_word(text);
  const auto word = std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return w.name == name; });
  if (word == kWords.end()) {
    refuse(fmt::format("{}: '{}' is no fault", place, name),
           "seed, loss, duplicate, reorder, delay, corrupt, slow-responder, black-hole, down, rnr-storm, held-cqe, "
           "late-doorbell or start");
  }
  FaultRule rule{.kind = word->kind};
  unsigned seen = 0;
  for (auto pair = next_word(text); !pair.empty(); pair = next_word(text)) {
    const auto equals = std::min(pair.find('='), pair.size());
    const auto at = std::find(kSettingNames.begin(), kSettingNames.end(), pair.substr(0, equals));
    const unsigned setting = at == kSettingNames.end() ? 0 : 1u << (at - kSettingNames.begin());
    if ((setting & (word->needs | word->may)) == 0 || equals == pair.size() || (seen & setting) != 0) {
      refuse(fmt::format("{}: '{}' is nothing that {} can have here", place, pair, name), word->example);
    }
    seen |= setting;
    if (!set(rule, setting, pair.substr(equals + 1))) {
      refuse(fmt::format("{}: '{}' has no sound value", place, pair), word->example);
    }
  }
  if ((word->needs & ~seen) != 0) refuse(fmt::format("{}: {} lacks a setting", place, name), word->example);
  return rule;
}

bool take_seed(std::string_view text, FaultPlan& plan, const std::string& place) {
  if (next_word(text) != "seed") return false;
  const auto value = trimmed(text);
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), plan.seed);
  if (value.empty() || error != std::errc() || end != value.data() + value.size()) {
    refuse(fmt::format("{}: '{}' is no seed", place, value), "seed 7");
  }
  return true;
}

}  // namespace

// [prm: splitmix64]
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

double fault_chance(const FaultPlan& plan, std::size_t rule, std::uint64_t n) {
  const auto word = mixed(mixed(plan.seed + rule * 0x100000001b3) ^ n);
  return static_cast<double>(word >> 11) * 0x1p-53;
}

FaultPlan parse_faults(std::string_view text) {
  constexpr std::size_t kMostRules = 64;
  FaultPlan plan;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = std::min(text.find_first_of("\n;"), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = trimmed(line.substr(0, line.find('#')));
    const std::string place = fmt::format("faults, rule {}", number);
    if (line.empty() || take_seed(line, plan, place)) continue;
    if (plan.rules.size() == kMostRules)
      refuse(fmt::format("{}: there are {} already", place, kMostRules), "fewer rules");
    plan.rules.push_back(parse_rule(line, place));
  }
  return plan;
}

FaultPlan read_faults(std::string_view text) {
  if (!text.starts_with('@')) return parse_faults(text);
  const std::string name(text.substr(1));
  std::ifstream file(name, std::ios::binary);
  std::string rules(kLargestFile + 1, '\0');
  file.read(rules.data(), static_cast<std::streamsize>(rules.size()));
  const auto got = static_cast<std::size_t>(file.gcount());
  if (!file.is_open() || file.bad()) refuse(fmt::format("cannot read the fault file {}", name), "ls -l " + name);
  if (got > kLargestFile)
    refuse(fmt::format("the fault file {} is larger than {} bytes", name, kLargestFile), "a rule a line");
  return parse_faults(std::string_view(rules).substr(0, got));
}

}  // namespace marrow::cx7
