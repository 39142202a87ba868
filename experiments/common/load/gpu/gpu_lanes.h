// SPDX-License-Identifier: Apache-2.0
// GPU lanes, for experiments that are written once for both kinds of lane; and their loops as the host starts them.
// Everything that kernels need is allocated before the first one runs: while bulk traffic is under way, a call of CUDA
// that waits for the whole GPU would wait for ever.
#pragma once

#include <fmt/format.h>

#include <array>
#include <vector>

#include "experiments/common/load/gpu/gpu_burst.h"
#include "experiments/common/load/host_streams.h"
#include "experiments/common/load/loaded.h"

namespace marrow::experiments {

/// What the host tells a probe's kernel beside its transport, and reads back.
class ProbeMemory {
 public:
  ProbeMemory(const Context& context, const CargoShape& cargo);

  [[nodiscard]] TripJob trip_job(const LoadEnds& ends, std::uint64_t warmup) const;
  [[nodiscard]] const std::uint64_t* carried() const { return carried_.data(); }
  [[nodiscard]] std::uint64_t* carried() { return carried_.data(); }
  [[nodiscard]] CarriedMoment* moments() const { return moments_.data(); }
  [[nodiscard]] gda::Status* statuses() const { return statuses_.data(); }
  [[nodiscard]] SendFailure* failures() const { return failures_.data(); }
  [[nodiscard]] gpu::StopWord& trip_stop() { return trip_stop_; }
  [[nodiscard]] gpu::StopWord& bulk_stop() { return bulk_stop_; }

  /// After both kernels. \throws util::Error when the bulk or the probe met something.
  [[nodiscard]] Loaded result(const Context& context, std::uint64_t warmup, bool loaded) const;

 private:
  std::uint32_t lanes_;
  gpu::StopWord trip_stop_;
  gpu::StopWord bulk_stop_;
  gpu::Array<std::uint64_t> carried_;
  gpu::Array<SendFailure> failures_;
  gpu::Array<CarriedMoment> moments_;
  gpu::Array<gda::Status> statuses_;
  gpu::Array<GpuTripStamps> stamps_;
  gpu::Array<LaneReport> reports_;
  gpu::Array<std::uint32_t> near_ended_;
};

/// The lanes of both ends, near ones first.
template <class T>
std::vector<LaneOf<typename T::Handle>> lanes_of(T& transport) {
  std::vector<LaneOf<typename T::Handle>> lanes;
  for (const auto end : {End::kNear, End::kFar}) {
    for (std::uint32_t i = 0; i < transport.ends().shape().lanes; ++i) lanes.push_back(transport.lane(end, i));
  }
  return lanes;
}

/// \tparam T  GpuGda or GpuProxy.
template <class T>
Loaded probe_on_gpu(const Context& context, T& transport, const gpu::Kernel<ProbeJob<typename T::Handle>>& probe,
                    const LoadOptions& options) {
  using Handle = typename T::Handle;
  auto& device = *context.gpu;
  const auto& cargo = transport.ends().shape();
  const auto kernels = transport.kernels();
  const std::uint64_t warmup = std::min(context.warmup, options.most_warmup);
  ProbeMemory memory(context, cargo);
  const auto all = lanes_of(transport);
  gpu::Array<LaneOf<Handle>> lanes(device, all.size());
  lanes.write(all);
  for (const auto* entry : {kernels.bulk.entry, probe.entry}) (void)gpu::facts_of(device, entry, {});  // loads them
  gpu::Stream bulk_stream(device);
  gpu::Stream probe_stream(device);
  const double pace = options.pace.messages_a_second;
  const double half_ns = pace > 0 ? 1e9 / pace * cargo.places / 2 * cargo.lanes : 0;
  if (options.loaded) {
    bulk_stream.start(kernels.bulk, {.blocks = 2 * cargo.lanes},
                      BulkJob<Handle>{.lanes = lanes.data(),
                                      .window = cargo.places,
                                      .ns_per_half = static_cast<std::uint64_t>(half_ns),
                                      .stop = memory.bulk_stop().word(),
                                      .carried = memory.carried(),
                                      .failures = memory.failures()});
  }
  const auto stop_bulk = [&] {
    memory.bulk_stop().raise();
    if (options.loaded) bulk_stream.finish({.limit = context.limit, .word = &memory.bulk_stop()});
  };
  const BusyWatch watch(context, transport.worker_counters());
  Busy busy;
  try {
    probe_stream.start(probe, {.blocks = 2},
                       ProbeJob<Handle>{.trip = memory.trip_job(transport.ends(), warmup),
                                        .near = transport.probe(End::kNear, options.probe),
                                        .far = transport.probe(End::kFar, options.probe),
                                        .put = {.from = kProbeOutgoingAt, .to = kProbeIncomingAt, .bytes = 8},
                                        .carried = memory.carried(),
                                        .lanes = options.loaded ? cargo.lanes : 0,
                                        .await_messages = options.loaded ? cargo.lanes * cargo.places : 0,
                                        .pause_ns = static_cast<std::uint64_t>(options.pause().count()),
                                        .moments = memory.moments(),
                                        .ring_status = memory.statuses()});
    probe_stream.finish({.limit = context.limit, .stop = context.stop, .word = &memory.trip_stop()});
    busy = watch.until(transport.worker_counters());
  } catch (const util::Error&) {
    stop_bulk();
    throw;
  }
  stop_bulk();
  auto seen = memory.result(context, warmup, options.loaded);
  seen.busy = busy;
  return seen;
}

/// mini-gda with a queue for each lane, for bursts.
class GpuStreams : public GpuGda {
 public:
  GpuStreams(const Context& context, const CargoShape& cargo)
      : GpuGda(context, {.cargo = cargo, .bulk_queues = cargo.lanes, .sq_wqebbs = kStreamWqebbs}) {}
};

struct GpuLanes {
  using Gda = GpuGda;
  using Proxy = GpuProxy<>;
  using Streams = GpuStreams;
  template <class T>
  using Burst = GpuBurst<T>;

  static constexpr std::uint32_t kRateMessages = 4096;
  /// As the paper's: 16 CTAs, fewer with larger payloads.
  [[nodiscard]] static constexpr std::uint32_t stream_lanes(std::uint32_t bytes) {
    if (bytes <= 1024) return 16;
    return bytes <= 8192 ? 4 : 1;
  }

  template <class T>
  [[nodiscard]] static Loaded probe(const Context& context, T& transport, const LoadOptions& options) {
    return probe_on_gpu(context, transport, transport.kernels().probe, options);
  }
};

}  // namespace marrow::experiments
