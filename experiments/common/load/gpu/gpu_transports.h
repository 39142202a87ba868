// SPDX-License-Identifier: Apache-2.0
// The two transports for lanes of a GPU under load. mini-gda's queues and payload lie in that GPU's memory.
// mini-proxy's rings and payload lie in host memory that the GPU reaches: the workers' queue pairs are the CPU
// engine's, or a NIC's.
#pragma once

#include <vector>

#include "experiments/common/gpu/gpu_bench.h"
#include "experiments/common/load/gpu/load_jobs.h"
#include "experiments/common/load/load_options.h"
#include "gpu/doorbell.h"
#include "gpu/memory.h"

namespace marrow::experiments {

/// The far end's queues too have their doorbells mapped: both ends' lanes are on one GPU.
class GpuGda {
 public:
  using Handle = gda::Qp;

  GpuGda(const Context& context, const GdaLoad& options);

  [[nodiscard]] const LoadEnds& ends() const { return ends_; }
  [[nodiscard]] measure::ActivePath path(const Context& context) const;
  [[nodiscard]] proxy::WorkerCounters worker_counters() const { return {}; }
  [[nodiscard]] LoadKernels<Handle> kernels() const { return gda_load_kernels(); }
  [[nodiscard]] LaneOf<Handle> lane(End end, std::uint32_t i) const;
  [[nodiscard]] Handle probe(End end, Probing probing) const;

 private:
  [[nodiscard]] Handle on_lanes(End end, std::uint32_t queue) const;

  std::uint32_t bulk_queues_;
  LoadEnds ends_;
  std::vector<gpu::Doorbell> near_;
  std::vector<gpu::Doorbell> far_;
};

/// Lanes on a GPU leave the cores to workers and engine.
[[nodiscard]] proxy::WorkersOptions gpu_workers(const Context& context, const ProxyShape& shape);
[[nodiscard]] measure::ActivePath gpu_proxy_path(const Context& context, const LoadEnds& ends, const ProxyShape& shape,
                                                 const proxy::WorkersReport& workers);

template <proxy::HandOffType H = LoadHandOff>
class GpuProxy {
 public:
  using Handle = proxy::Ring;

  GpuProxy(const Context& context, const ProxyLoad& options)
      : options_(options),
        ends_(context, options.cargo, {.queues = 0}, {.payload = gpu::pinned_source(*context.gpu)}),
        producers_(*context.gpu, ProxyPair<H>::producers(options.shape)),
        pair_(ends_, options.shape, gpu_workers(context, options.shape), gpu::pinned_source(*context.gpu),
              producers_.data()) {}

  [[nodiscard]] const LoadEnds& ends() const { return ends_; }
  [[nodiscard]] measure::ActivePath path(const Context& context) {
    return gpu_proxy_path(context, ends_, options_.shape, pair_.end(End::kNear).report());
  }
  [[nodiscard]] proxy::WorkerCounters worker_counters() const { return pair_.counters(); }
  [[nodiscard]] LoadKernels<Handle> kernels() const { return proxy_load_kernels(); }
  [[nodiscard]] LaneOf<Handle> lane(End end, std::uint32_t i) {
    return {pair_.end(end).ring(i % options_.shape.rings), ends_.cargo(end, i)};
  }
  [[nodiscard]] Handle probe(End end, Probing probing) {
    return probing == Probing::kShared ? pair_.end(end).ring(0) : pair_.end(end).own_ring();
  }

 private:
  ProxyLoad options_;
  LoadEnds ends_;
  gpu::Array<proxy::ProducerState> producers_;
  ProxyPair<H> pair_;
};

}  // namespace marrow::experiments
