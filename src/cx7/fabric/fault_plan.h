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

enum class FaultKind : std::uint8_t { kLoss, kDuplicate, kReorder, kDelay, kCorrupt, kBlackHole, kDown };

/// Requests come from requesters; answers are ACKs, NAKs and responses.
enum class FaultOf : std::uint8_t { kAll, kRequests, kAnswers };

struct FaultRule {
  FaultKind kind{};
  double rate = 0;                   // of the packets, 0 to 1; not for what lasts
  FaultOf of = FaultOf::kAll;        // which packets
  std::chrono::nanoseconds time{0};  // delay: how long; black hole and down: how long it lasts
  std::chrono::nanoseconds at{0};    // black hole and down: when it begins, counted from the first packet or look
  std::uint32_t depth = 0;           // reorder: how many later packets pass
};

struct FaultPlan {
  std::uint64_t seed = 1;
  std::vector<FaultRule> rules;
};

/// Rules stand on lines, or between semicolons. Throws util::Error (usage) with the place in it.
[[nodiscard]] FaultPlan parse_faults(std::string_view text);

/// What MARROW_SIM_FAULTS says: rules, or @FILE that has them.
[[nodiscard]] FaultPlan read_faults(std::string_view text);

}  // namespace marrow::cx7
