// SPDX-License-Identifier: Apache-2.0
// Single puts by a host lane: the clerk that the loop of put_loop.h has there, and its times.
#pragma once

#include <cstdint>
#include <utility>

#include "experiments/common/poster.h"
#include "experiments/common/put_loop.h"
#include "experiments/common/stamped_payload.h"
#include "experiments/experiment.h"
#include "measure/samples.h"

namespace marrow::experiments {

/// The clerk of host lanes: every payload is verified at the far side between two puts; what fails is thrown.
/// `keep(poster, stamps)` receives each put that went well.
template <class Keep>
class HostClerk {
 public:
  HostClerk(const Context& context, StampedPayload& payload, Keep keep)
      : context_(context), payload_(payload), keep_(std::move(keep)) {}

  [[nodiscard]] bool stopping(std::uint64_t) const { return context_.stopping(); }
  [[nodiscard]] std::uint64_t stamp_next() { return payload_.stamp_next(); }
  [[nodiscard]] std::uint64_t ticks() const { return context_.clock->ticks(); }
  template <Poster P>
  bool accept(P& poster, bool done, const PutStamps& stamps) {
    if (!done) throw util::Error("a put did not complete: " + poster.failure());
    keep_(poster, stamps);
    payload_.expect_arrived();
    return true;
  }

 private:
  const Context& context_;
  StampedPayload& payload_;
  Keep keep_;
};

/// Posts and verifies without keeping times: before a measurement, or to count.
/// \returns how many were done: all, unless the run is being stopped.
template <Poster P>
std::uint64_t put_untimed(const Context& context, P& poster, StampedPayload& payload, std::uint64_t operations) {
  HostClerk clerk(context, payload, [](P&, const PutStamps&) {});
  return puts(clerk, poster, operations);
}

/// Times of single puts in nanoseconds.
struct PutTimes {
  explicit PutTimes(std::size_t capacity) : issue(capacity), completion(capacity) {}
  measure::Samples issue;       // the posting call: WQE, order, dbrec, doorbell
  measure::Samples completion;  // the same plus the wait for its CQE: "put+completion"

  void add(const PutStamps& stamps, double ns_per_tick) {
    issue.add(static_cast<double>(stamps.issued - stamps.start) * ns_per_tick);
    completion.add(static_cast<double>(stamps.completed - stamps.start) * ns_per_tick);
  }
};

/// As many as `times` has room for.
template <Poster P>
void put_timed(const Context& context, P& poster, StampedPayload& payload, PutTimes& times) {
  const auto rate = context.clock->ns_per_tick();
  HostClerk clerk(context, payload, [&](P&, const PutStamps& stamps) { times.add(stamps, rate); });
  (void)puts(clerk, poster, times.issue.capacity());
}

}  // namespace marrow::experiments
