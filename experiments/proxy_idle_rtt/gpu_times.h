// SPDX-License-Identifier: Apache-2.0
// Single messages through a ring with nothing else going on, by a GPU thread: also what proxy-clock-state measures.
#pragma once

#include "experiments/common/load/gpu/ring_puts.h"
#include "experiments/proxy_idle_rtt/idle_results.h"

namespace marrow::experiments {

inline std::vector<double> values_of(const measure::Samples& samples) {
  return {samples.values().begin(), samples.values().end()};
}

template <proxy::HandOffType H>
SingleTimes gpu_single_times(const Context& context, bool reports) {
  auto proxy = idle_proxy_on_gpu<H>(context, kIdleBytes, true);
  if (reports && context.report_path) context.report_path(proxy.path(context));
  const auto kernels = ring_kernels<H>();
  const auto puts = ring_puts_on_gpu(context, kernels.put, proxy.probe(End::kNear, Probing::kReserved),
                                     proxy.ends().cargo(End::kNear, 0));
  return {values_of(puts.issue), values_of(puts.completion), idle_trips_on_gpu(context, proxy, kernels.probe)};
}

}  // namespace marrow::experiments
