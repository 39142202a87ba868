// SPDX-License-Identifier: Apache-2.0
// What the host hands to the kernels of lanes under load and gets back: plain data. A lane is one thread of one CTA. A
// Handle is a gda::Qp or a proxy::Ring.
#pragma once

#include <cstdint>

#include "experiments/common/gpu/jobs.h"
#include "experiments/common/load/cargo.h"
#include "gpu/launch.h"
#include "marrow/proxy/producer.h"

namespace marrow::experiments {

/// Where a lane sends, and by what.
template <class Handle>
struct LaneOf {
  Handle handle;
  Cargo cargo;
};

/// Bulk traffic until it is asked to stop. Grid: a CTA a lane.
template <class Handle>
struct BulkJob {
  const LaneOf<Handle>* lanes = nullptr;
  std::uint32_t window = 0;
  std::uint64_t ns_per_half = 0;        // of one lane; 0: as fast as it goes
  const std::uint32_t* stop = nullptr;  // gpu::StopWord
  std::uint64_t* carried = nullptr;     // by lane: messages that have arrived and were compared
  SendFailure* failures = nullptr;      // by lane
};

/// One repetition of a rate. Grid: a CTA a lane.
template <class Handle>
struct BurstJob {
  const LaneOf<Handle>* lanes = nullptr;
  std::uint32_t places = 0;
  std::uint64_t repetition = 0;
  std::uint64_t* begin_ns = nullptr;  // the least
  std::uint64_t* end_ns = nullptr;    // the most
  SendFailure* failures = nullptr;    // by lane
};

/// Filling and comparing of a burst. Grid: a CTA a lane, any number of threads.
struct CargoJob {
  const Cargo* cargos = nullptr;
  std::uint32_t places = 0;
  std::uint64_t repetition = 0;
  SendFailure* failures = nullptr;  // by lane
};

/// How much the bulk had carried, by the near end's lanes and by the far end's, and when.
struct CarriedMoment {
  std::uint64_t ns = 0;
  std::uint64_t near = 0;
  std::uint64_t far = 0;
};

/// Round trips beside bulk traffic. Grid: two CTAs of one thread.
template <class Handle>
struct ProbeJob {
  TripJob trip;  // its ends' queues are not used
  Handle near;
  Handle far;
  proxy::Put put;                          // for rings: the same at both ends
  const std::uint64_t* carried = nullptr;  // of the bulk, near lanes first
  std::uint32_t lanes = 0;                 // of one end; 0: no bulk
  std::uint64_t await_messages = 0;        // of each end, before the first trip
  std::uint64_t pause_ns = 0;              // before each trip
  CarriedMoment* moments = nullptr;        // two: when trips began to count, and when they ended
  gda::Status* ring_status = nullptr;      // two: of near and far, where the handle is a ring
};

/// Single puts through a ring.
struct RingPutJob {
  PutJob put;  // its queue is not used
  proxy::Ring ring;
  proxy::Put request;
  gda::Status* status = nullptr;
};

template <class Handle>
struct LoadKernels {
  gpu::Kernel<BulkJob<Handle>> bulk;
  gpu::Kernel<ProbeJob<Handle>> probe;
  gpu::Kernel<BurstJob<Handle>> burst;
};

/// mini-gda: bulk and probe share their queues as slots; a burst goes by pointer, on a queue of the lane's own.
[[nodiscard]] LoadKernels<gda::Qp> gda_load_kernels();
/// mini-proxy, with the hand-off of host_proxy.h.
[[nodiscard]] LoadKernels<proxy::Ring> proxy_load_kernels();

struct CargoKernels {
  gpu::Kernel<CargoJob> load;
  gpu::Kernel<CargoJob> check;
};
[[nodiscard]] CargoKernels cargo_kernels();

}  // namespace marrow::experiments
