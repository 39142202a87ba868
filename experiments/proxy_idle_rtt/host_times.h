// SPDX-License-Identifier: Apache-2.0
// Single messages through a ring with nothing else going on, by host lanes: also what proxy-clock-state measures.
#pragma once

#include "experiments/common/load/host_probe.h"
#include "experiments/common/load/host_single.h"
#include "experiments/proxy_idle_rtt/idle_results.h"

namespace marrow::experiments {

template <class T>
std::vector<double> host_idle_trips(const Context& context, T& transport) {
  const auto seen = probe_under_load(context, transport, {.loaded = false, .most_warmup = context.warmup});
  return {seen.trips_ns.values().begin(), seen.trips_ns.values().end()};
}

template <proxy::HandOffType H>
SingleTimes host_single_times(const Context& context, bool reports) {
  auto proxy = idle_proxy<H>(context, kIdleBytes, true);
  if (reports && context.report_path) context.report_path(proxy.path(context));
  const auto cargo = proxy.ends().cargo(End::kNear, 0);
  SingleTimes times;
  {
    auto poster = proxy.single_poster(cargo);
    const auto puts = single_puts(context, poster, cargo);
    times.issue_ns.assign(puts.issue.values().begin(), puts.issue.values().end());
    times.completion_ns.assign(puts.completion.values().begin(), puts.completion.values().end());
  }
  times.trip_ns = host_idle_trips(context, proxy);
  return times;
}

}  // namespace marrow::experiments
