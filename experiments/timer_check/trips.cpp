// SPDX-License-Identifier: Apache-2.0
// See trips.h.
#include "experiments/timer_check/trips.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/common/bench.h"

namespace marrow::experiments {

void Trips::keep(std::uint64_t i, double ns) {
  if (!is_delayed(i)) {
    plain.add(ns);
    last_plain_ = ns;
  } else if (plain.size() > 0) {
    delayed.add(ns);
    shift.add(ns - last_plain_);
  }
}

void add_trips(measure::Record& record, measure::Kind kind, const Trips& trips) {
  record.counts.operations = trips.plain.size() + trips.delayed.size();
  add_time(record, "round trip", kind, trips.plain);
  add_time(record, "round trip, delayed", kind, trips.delayed);
  add_time(record, "round-trip shift", kind, trips.shift);
}

void expect_the_delay(measure::Record& record, double delay_us, bool crowded) {
  const double allowed_us = delay_us / 10;
  const auto& plain = record.metrics.at(0).summary;
  const auto& delayed = record.metrics.at(1).summary;
  if (!crowded) {
    const auto seen = delayed.min - plain.min;
    record.expectations.push_back(
        {fmt::format("the fastest round trip grows by the delay: {:.2f} us seen, {} us put in, {:.0f} us allowed", seen,
                     delay_us, allowed_us),
         std::abs(seen - delay_us) <= allowed_us});
    return;
  }
  const auto most = delay_us + plain.p50 + allowed_us;
  record.expectations.push_back(
      {fmt::format(
           "the fastest delayed round trip takes the delay and no more than an ordinary one beside it: {:.2f} us, "
           "within {} and {:.2f}; more threads than cores",
           delayed.min, delay_us, most),
       delayed.min >= delay_us && delayed.min <= most});
}

}  // namespace marrow::experiments
