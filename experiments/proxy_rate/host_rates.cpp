// SPDX-License-Identifier: Apache-2.0
// See host_rates.h.
#include "experiments/proxy_rate/host_rates.h"

#include "experiments/common/load/host_burst.h"
#include "experiments/common/load/host_proxy.h"
#include "experiments/gpu_rate/rate_verdict.h"

namespace marrow::experiments {
namespace {

/// One for each worker where there are cores for both and the NIC, else one.
unsigned senders_of(const RateSetUp& set_up) {
  return 2 * set_up.workers + 1 <= usable_cores() ? set_up.workers : 1;
}

}  // namespace

ProxyRates host_rates(const Context& context, const RateSetUp& set_up, bool reports, measure::Record& record) {
  const auto senders = senders_of(set_up);
  HostProxy<> proxy(
      context,
      {.cargo = cargo_of(set_up), .shape = shape_of(set_up), .crowd = {.lanes = senders, .workers = set_up.workers}});
  if (reports && context.report_path) context.report_path(proxy.path(context));
  const ExecutedWqes executed(context);
  HostBurst<HostProxy<>> burst(context, proxy, senders);
  ProxyRates rates;
  const auto repeat = [&](std::uint32_t repetitions, bool kept) {
    for (std::uint32_t i = 0; i < repetitions && !context.stopping(); ++i) {
      const auto ns = burst.run();
      rates.messages += burst.messages();
      if (kept) rates.per_ns.push_back(static_cast<double>(burst.messages()) / ns);
    }
  };
  repeat(context.warmup > 0 ? 2 : 0, false);
  const BusyWatch watch(context, proxy.worker_counters());
  repeat(context.iterations, true);
  rates.busy = watch.until(proxy.worker_counters());
  executed.expect(rates.messages, record);
  return rates;
}

}  // namespace marrow::experiments
