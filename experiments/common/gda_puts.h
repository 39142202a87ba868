// SPDX-License-Identifier: Apache-2.0
// The measurement that most experiments share: single puts, timed and verified, and their exact counts.
#pragma once

#include <algorithm>

#include "experiments/common/bench.h"
#include "experiments/common/counts.h"
#include "experiments/common/host_clerk.h"

namespace marrow::experiments {

/// Adds "issue" and "put+completion" of single puts by this poster, after the warm-up.
template <Poster P>
void measure_puts(const Context& context, P& poster, StampedPayload payload, measure::Record& record) {
  (void)put_untimed(context, poster, payload, context.warmup);
  PutTimes times(context.iterations);
  put_timed(context, poster, payload, times);
  record.counts.operations = times.issue.size();
  add_time(record, "issue", measure::Kind::kHostLane, times.issue);
  add_time(record, "put+completion", context.nic_kind, times.completion);
}

/// The same puts with a counting probe, untimed: the probe's own work must not be in a time.
template <gda::PolicyType P>
void count_puts(const Context& context, Bench<verbs::DevxQp>& bench, std::uint32_t bytes, measure::Record& record) {
  constexpr std::uint64_t kCounted = 1000;
  auto payload = bench.payload(bytes);
  GdaPoster<P, gda::CountingProbe> poster(bench.a().queue.handle(), bench.put_route(bytes));
  const auto done = put_untimed(context, poster, payload, std::min<std::uint64_t>(kCounted, context.iterations));
  if (done == 0) return;
  const std::uint32_t ds = 2 + (P::payload == gda::Payload::kInline ? wire::inline_ds(bytes) : 1);
  record.counts = counts_of(poster.probe().counts, done);
  expect_counts(record, poster.probe().counts, promised_counts(gda::recipe_for<P>(), ds, done));
}

/// Times and counts of mini-gda's puts by policy P.
template <gda::PolicyType P>
void measure_gda_puts(const Context& context, Bench<verbs::DevxQp>& bench, std::uint32_t bytes,
                      measure::Record& record) {
  {
    GdaPoster<P> poster(bench.a().queue.handle(), bench.put_route(bytes));
    measure_puts(context, poster, bench.payload(bytes), record);
  }
  count_puts<P>(context, bench, bytes, record);
}

}  // namespace marrow::experiments
