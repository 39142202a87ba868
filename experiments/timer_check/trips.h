// SPDX-License-Identifier: Apache-2.0
// Plain and delayed round trips in turn, and what must hold between them; for both lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "measure/record.h"
#include "measure/samples.h"

namespace marrow::experiments {

/// Every second trip is answered late, so that a drift of the machine falls on both kinds.
[[nodiscard]] constexpr bool is_delayed(std::uint64_t i) {
  return i % 2 == 1;
}

struct Trips {
  explicit Trips(std::size_t capacity) : plain(capacity), delayed(capacity), shift(capacity) {}
  measure::Samples plain;
  measure::Samples delayed;
  measure::Samples shift;  // each delayed one minus the undelayed one before it

  /// \param i  number of the trip.
  void keep(std::uint64_t i, double ns);

 private:
  double last_plain_ = 0;
};

/// Adds "round trip", "round trip, delayed" and "round-trip shift".
void add_trips(measure::Record& record, measure::Kind kind, const Trips& trips);

/// With a core for each thread: the fastest round trip grows by the delay, within a tenth (the paper saw 0.4 us of 50).
/// Where threads outnumber cores there may be no round trip that waited for nothing, so only bounds can be told: not
/// less than the delay, and not more than the delay and an ordinary round trip. Call right after add_trips().
void expect_the_delay(measure::Record& record, double delay_us, bool crowded);

}  // namespace marrow::experiments
