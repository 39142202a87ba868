// SPDX-License-Identifier: Apache-2.0
// A repetition of a rate: each lane sends all its places once, with many messages outstanding, and waits for the last.
// Each message has a place of its own, so afterwards every one of them is compared. Host and GPU.
#pragma once

#include "experiments/common/load/ways.h"

namespace marrow::experiments {

/// Messages handed over at a time before another lane of the same thread has its turn.
inline constexpr std::uint32_t kBurstRun = 16;

/// Number of a place's message in repetition `repetition`.
[[nodiscard]] MARROW_HD constexpr std::uint64_t burst_number(std::uint64_t repetition, std::uint32_t places,
                                                             std::uint32_t place) {
  return repetition * places + place;
}

/// Fills a lane's sources. Before the clock.
MARROW_HD inline void load_burst(const Cargo& cargo, std::uint64_t repetition, std::uint32_t places,
                                 std::uint32_t first = 0, std::uint32_t step = 1) {
  for (std::uint32_t at = first; at < places; at += step) cargo.write(at, burst_number(repetition, places, at));
}

/// Compares what arrived. Behind the clock.
[[nodiscard]] MARROW_HD inline SendFailure check_burst(const Cargo& cargo, std::uint64_t repetition,
                                                       std::uint32_t places, std::uint32_t first = 0,
                                                       std::uint32_t step = 1) {
  for (std::uint32_t at = first; at < places; at += step) {
    const auto number = burst_number(repetition, places, at);
    if (!await_message(cargo, at, number)) return {gda::Status::kOk, true, number};
  }
  return {};
}

/// The places from `at` on, as many as are handed over at once.
[[nodiscard]] MARROW_HD constexpr Run burst_run(std::uint32_t at, std::uint32_t places) {
  return {at, places - at < kBurstRun ? places - at : kBurstRun};
}

}  // namespace marrow::experiments
