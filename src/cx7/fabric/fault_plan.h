// SPDX-License-Identifier: Apache-2.0
// Which faults a link shall have, as a text of rules: from a file or from the command line. docs/links.md has the
// words.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace marrow::cx7 {

enum class FaultKind : std::uint8_t {
  // of packets, in this order up to kSlowResponder
  kLoss,
  kDuplicate,
  kReorder,
  kDelay,
  kCorrupt,
  kSlowResponder,
  // of the link
  kBlackHole,
  kDown,
  // of the device: device_faults.h
  kRnrStorm,
  kHeldCqe,
  kLateDoorbell,
  kStart,
};
constexpr bool acts_on_packets(FaultKind kind) {
  return kind <= FaultKind::kSlowResponder;
}
constexpr bool acts_in_device(FaultKind kind) {
  return kind >= FaultKind::kRnrStorm;
}

/// Requests come from requesters; answers are ACKs, NAKs and responses.
enum class FaultOf : std::uint8_t { kAll, kRequests, kAnswers };

struct FaultRule {
  FaultKind kind{};
  double rate = 0;                   // of the packets, messages, CQEs or doorbells, 0 to 1; not for what lasts
  FaultOf of = FaultOf::kAll;        // which packets
  std::chrono::nanoseconds time{0};  // how long it lasts, or how late something is
  std::chrono::nanoseconds at{0};    // black hole and down: when it begins, counted from the first packet or look
  std::uint32_t depth = 0;           // reorder: how many later packets pass
  std::uint32_t psn = 0;             // start: of every queue pair's first packet
};

struct FaultPlan {
  std::uint64_t seed = 1;
  std::vector<FaultRule> rules;
};

/// A number in [0, 1) for the n-th of what the rule with this index may meet: the seed decides, and nothing else.
[[nodiscard]] double fault_chance(const FaultPlan& plan, std::size_t rule, std::uint64_t n);
/// A well-mixed 64-bit word of a counter.
[[nodiscard]] std::uint64_t mixed(std::uint64_t x);

/// Rules stand on lines, or between semicolons. Throws util::Error (usage) with the place in it.
[[nodiscard]] FaultPlan parse_faults(std::string_view text);

/// What MARROW_SIM_FAULTS says: rules, or @FILE that has them.
[[nodiscard]] FaultPlan read_faults(std::string_view text);

}  // namespace marrow::cx7
