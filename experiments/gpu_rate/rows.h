// SPDX-License-Identifier: Apache-2.0
// The set-ups of gpu-rate, as a table: those of the paper's Table 5, and a few of ours beside them.
#pragma once

#include <cstdint>
#include <span>

#include "experiments/experiment.h"

namespace marrow::experiments {

/// How lanes come by their slots. The text is the axis `sharing`.
enum class RateHow : std::uint8_t {
  kThread,            // a queue a thread
  kRoundRobin,        // one thread, which takes its queues in turn
  kLock,              // one queue, a lock around each WQE
  kThreadSlots,       // one queue, slots handed off by each thread
  kWarpSlots,         // one queue, slots handed off by each warp
  kWarpSlotsInBlock,  // the same with fences and atomics of block scope
  kWarp,              // a queue a warp
  kBlock,             // a queue a CTA, whose threads act as one team
  kUnordered,         // as kThread, with no fence before the doorbell: safe nowhere, and the control
};
[[nodiscard]] const char* text_of(RateHow how);
[[nodiscard]] constexpr bool is_shared(RateHow how) {
  return how == RateHow::kLock || how == RateHow::kThreadSlots || how == RateHow::kWarpSlots ||
         how == RateHow::kWarpSlotsInBlock;
}

struct RateRow {
  std::uint32_t threads;
  std::uint32_t queues;
  std::uint32_t blocks;
  std::uint32_t batch;  // WQEs a doorbell
  RateHow how;
  std::uint32_t rounds;   // reservations of each team in one repetition
  double least_rate = 0;  // M msg/s that an H200 must reach; 0: nothing is asked

  /// Lanes that act together.
  [[nodiscard]] std::uint32_t team() const;
  /// WQEs of one reservation by one lane.
  [[nodiscard]] std::uint32_t wqes_a_lane() const { return how == RateHow::kThread ? batch : 1; }
  [[nodiscard]] std::uint64_t messages() const { return std::uint64_t{threads} * rounds * wqes_a_lane(); }
};

[[nodiscard]] std::span<const RateRow> rate_rows();
[[nodiscard]] Variant variant_of(const RateRow& row);
/// \throws util::Error when no row has these axes.
[[nodiscard]] const RateRow& row_of(const Point& point);

inline constexpr std::uint32_t kRateWqebbs = 2048;  // of each queue; as many 8-byte places at the far side
inline constexpr std::size_t kRateFarBytes = std::size_t{kRateWqebbs} * 8;

}  // namespace marrow::experiments
