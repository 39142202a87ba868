// SPDX-License-Identifier: Apache-2.0
// The measuring loops over one put at a time: at most one is outstanding, as in the paper's Table 3.
// docs/measuring.md defines the metrics; the stamps of time are where the comments say.
#pragma once

#include <cstdint>

#include "experiments/common/poster.h"
#include "experiments/common/stamped_payload.h"
#include "experiments/experiment.h"
#include "measure/samples.h"

namespace marrow::experiments {

/// Times of single puts in nanoseconds.
struct PutTimes {
  explicit PutTimes(std::size_t capacity) : issue(capacity), completion(capacity) {}
  measure::Samples issue;       // the posting call: WQE, order, dbrec, doorbell
  measure::Samples completion;  // the same plus the wait for its CQE: "put+completion"
};

/// Posts and verifies without timing: before a measurement, or to count.
/// \returns how many were done: all, unless the run is being stopped.
template <Poster P>
std::uint64_t put_untimed(const Context& context, P& poster, StampedPayload& payload, std::uint64_t operations) {
  for (std::uint64_t i = 0; i < operations; ++i) {
    if (context.stopping()) return i;
    payload.stamp_next();
    poster.post();
    require_done(poster);
    payload.expect_arrived();
  }
  return operations;
}

/// One timed put after another; every payload is verified at the far side between two of them.
template <Poster P>
void put_timed(const Context& context, P& poster, StampedPayload& payload, PutTimes& times) {
  const auto& clock = *context.clock;
  for (std::uint64_t i = 0; i < context.iterations && !context.stopping(); ++i) {
    payload.stamp_next();
    const auto start = clock.ticks();
    poster.post();
    const auto issued = clock.ticks();
    require_done(poster);
    const auto completed = clock.ticks();
    times.issue.add(clock.ns(issued - start));
    times.completion.add(clock.ns(completed - start));
    payload.expect_arrived();
  }
}

}  // namespace marrow::experiments
