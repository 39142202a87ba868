// SPDX-License-Identifier: Apache-2.0
// Single messages of host lanes by either transport: one outstanding, each verified.
#pragma once

#include <algorithm>

#include "experiments/common/host_clerk.h"
#include "experiments/common/load/host_proxy.h"

namespace marrow::experiments {

/// The poster's puts of the cargo's first place: the warm-up, then Context::iterations timed ones.
template <Poster P>
PutTimes single_puts(const Context& context, P& poster, const Cargo& cargo, std::uint64_t first = 0) {
  auto* const far = const_cast<std::byte*>(cargo.far);
  StampedPayload payload({cargo.source, cargo.bytes}, {far, cargo.bytes}, first);
  HostClerk untimed(context, payload, [](P&, const PutStamps&) {});
  (void)puts(untimed, poster, context.warmup);
  PutTimes times(context.iterations);
  HostClerk timed(context, payload,
                  [&](P&, const PutStamps& stamps) { times.add(stamps, context.clock->ns_per_tick()); });
  (void)puts(timed, poster, context.iterations);
  return times;
}

/// A ring with one lane and one worker at each end: for what is done while nothing else goes on.
template <proxy::HandOffType H>
HostProxy<H> idle_proxy(const Context& context, std::uint32_t bytes, bool both) {
  constexpr std::uint32_t kDepth = 1024;
  return HostProxy<H>(context, {.cargo = {.lanes = 1, .places = 1, .bytes = bytes},
                                .shape = {.batch = 1, .depth = kDepth, .both = both},
                                .crowd = {.lanes = both ? 2U : 1U, .workers = both ? 2U : 1U}});
}

}  // namespace marrow::experiments
