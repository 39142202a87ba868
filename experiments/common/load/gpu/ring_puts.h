// SPDX-License-Identifier: Apache-2.0
// Single messages through a ring by a GPU thread, for the hand-offs that are compared.
#pragma once

#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/common/load/gpu/gpu_lanes.h"
#include "experiments/common/load/gpu/ring_kernels.h"

namespace marrow::experiments {

template <proxy::HandOffType H>
[[nodiscard]] RingKernels ring_kernels() {
  static_assert(H::name == proxy::Baseline::name || H::name == proxy::Tuned::name);
  return H::name == proxy::Baseline::name ? baseline_kernels() : tuned_kernels();
}

/// A ring with one lane and one worker at each end.
template <proxy::HandOffType H>
GpuProxy<H> idle_proxy_on_gpu(const Context& context, std::uint32_t bytes, bool both) {
  constexpr std::uint32_t kDepth = 1024;
  return GpuProxy<H>(context, {.cargo = {.lanes = 1, .places = 1, .bytes = bytes},
                               .shape = {.batch = 1, .depth = kDepth, .both = both}});
}

/// Context::iterations puts of the cargo's place, each compared, after the warm-up.
[[nodiscard]] PutTimes ring_puts_on_gpu(const Context& context, const gpu::Kernel<RingPutJob>& kernel,
                                        const proxy::Ring& ring, const Cargo& cargo);

/// Nanoseconds of round trips that nothing disturbs.
template <class T>
std::vector<double> idle_trips_on_gpu(const Context& context, T& transport,
                                      const gpu::Kernel<ProbeJob<typename T::Handle>>& kernel) {
  const auto seen = probe_on_gpu(context, transport, kernel, {.loaded = false, .most_warmup = context.warmup});
  return {seen.trips_ns.values().begin(), seen.trips_ns.values().end()};
}

}  // namespace marrow::experiments
