// SPDX-License-Identifier: Apache-2.0
// The rate of one set-up of workers, for both lanes.
#pragma once

#include "experiments/proxy_rate/rate_set_up.h"

namespace marrow::experiments {

/// Host lanes: a sender for each worker where there are cores for both and the NIC, else one.
[[nodiscard]] inline unsigned senders_of(const RateSetUp& set_up) {
  return 2 * set_up.workers + 1 <= usable_cores() ? set_up.workers : 1;
}

/// Adds Context::iterations repetitions to `rates`; each is compared whole.
/// \tparam Lanes  HostLanes or GpuLanes. \param reports  tells the path, for the header.
template <class Lanes>
void add_repetitions(const Context& context, const RateSetUp& set_up, bool reports, ProxyRates& rates) {
  using Proxy = typename Lanes::Proxy;
  const auto senders = senders_of(set_up);
  Proxy proxy(
      context,
      {.cargo = cargo_of(set_up), .shape = shape_of(set_up), .crowd = {.lanes = senders, .workers = set_up.workers}});
  if (reports && context.report_path) context.report_path(proxy.path(context));
  typename Lanes::template Burst<Proxy> burst(context, proxy, senders);
  const auto repeat = [&](std::uint32_t repetitions, bool kept) {
    for (std::uint32_t i = 0; i < repetitions && !context.stopping(); ++i) {
      const auto ns = burst.run();
      rates.messages += burst.messages();
      if (kept) rates.per_ns.push_back(static_cast<double>(burst.messages()) / ns);
    }
  };
  repeat(context.warmup > 0 ? 1 : 0, false);
  const BusyWatch watch(context, proxy.worker_counters());
  repeat(context.iterations, true);
  rates.busy += watch.until(proxy.worker_counters());
}

}  // namespace marrow::experiments
