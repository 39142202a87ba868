// SPDX-License-Identifier: Apache-2.0
// The kernels of lanes under load as templates: the same loops as on host lanes (bulk.h, burst.h, trip_loop.h). For .cu
// files.
#pragma once

#include <type_traits>

#include "experiments/common/gpu/clerks.cuh"
#include "experiments/common/load/bulk.h"
#include "experiments/common/load/burst.h"
#include "experiments/common/load/gpu/load_jobs.h"
#include "experiments/common/load/posters.h"

namespace marrow::experiments {

template <class Way, class Handle>
__global__ void bulk_kernel(BulkJob<Handle> job) {
  const LaneOf<Handle> mine = job.lanes[blockIdx.x];
  Way way(mine.handle, mine.cargo);
  Bulk<Way> bulk(way, mine.cargo, job.window);
  const auto begin = gda::lane_clock_ns();
  for (std::uint64_t half = 0; poll(job.stop) == 0; ++half) {
    const auto due = begin + half * job.ns_per_half;
    if (job.ns_per_half != 0 && gda::lane_clock_ns() < due) {
      --half;
      continue;
    }
    if (!bulk.step()) break;
    publish(&job.carried[blockIdx.x], bulk.carried());
  }
  (void)bulk.drain();
  publish(&job.carried[blockIdx.x], bulk.carried());
  job.failures[blockIdx.x] = bulk.failure();
}

template <class Way, class Handle>
__global__ void burst_kernel(BurstJob<Handle> job) {
  const LaneOf<Handle> mine = job.lanes[blockIdx.x];
  Way way(mine.handle, mine.cargo);
  typename Way::Ticket ticket;
  using OfGpu = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device>;
  const auto begin = gda::lane_clock_ns();
  for (std::uint32_t at = 0; at < job.places && ticket.status == gda::Status::kOk; at += kBurstRun) {
    ticket = way.post(burst_run(at, job.places));
  }
  const auto status = way.wait(ticket);
  OfGpu(*job.end_ns).fetch_max(gda::lane_clock_ns(), cuda::memory_order_relaxed);
  OfGpu(*job.begin_ns).fetch_min(begin, cuda::memory_order_relaxed);
  job.failures[blockIdx.x] = {status, false, job.repetition * job.places};
}

/// The near lane of a probe.
template <class Handle>
class LoadedNearClerk : public NearClerk {
 public:
  MARROW_HD explicit LoadedNearClerk(const ProbeJob<Handle>& job) : NearClerk(job.trip), job_(job) {}

  [[nodiscard]] MARROW_HD bool stopping(std::uint64_t i) const {
    if (i == 0) await_load();
    if (i == job_.trip.warmup) job_.moments[0] = moment();
    const auto begin = gda::lane_clock_ns();
    while (job_.pause_ns != 0 && gda::lane_clock_ns() - begin < job_.pause_ns) {
    }
    return NearClerk::stopping(i);
  }
  [[nodiscard]] MARROW_HD CarriedMoment moment() const { return {gda::lane_clock_ns(), sum(0), sum(job_.lanes)}; }

 private:
  [[nodiscard]] MARROW_HD std::uint64_t sum(std::uint32_t first) const {
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < job_.lanes; ++i) all += poll(job_.carried + first + i);
    return all;
  }
  MARROW_HD void await_load() const {
    gda::SpinLimit limit(job_.trip.limit_ns);
    while (sum(0) < job_.await_messages || sum(job_.lanes) < job_.await_messages) {
      if (limit.expired()) return;
    }
  }

  const ProbeJob<Handle>& job_;
};

template <class Poster>
__device__ Poster probe_poster(const ProbeJob<proxy::Ring>& job, const proxy::Ring& ring, const Route&) {
  return Poster(ring, job.put);
}
template <class Poster>
__device__ Poster probe_poster(const ProbeJob<gda::Qp>&, const gda::Qp& qp, const Route& route) {
  return Poster(qp, route);
}

template <class Poster>
__device__ void report_probe(const Poster& poster, LaneReport& report, gda::Status* status) {
  report.result = {poster.status()};
  *status = poster.status();
}

template <class Poster, class Handle>
__global__ void probe_kernel(ProbeJob<Handle> job) {
  const auto operations = job.trip.warmup + job.trip.operations;
  LaneReport& report = job.trip.reports[blockIdx.x];
  if (blockIdx.x == 0) {
    LoadedNearClerk<Handle> clerk(job);
    Poster poster = probe_poster<Poster>(job, job.near, job.trip.near.route);
    report.span.begin();
    report.operations = round_trips(clerk, poster, operations);
    job.moments[1] = clerk.moment();
    publish(job.trip.near_ended, 1U);
    report.span.end();
    report_probe(poster, report, job.ring_status);
  } else {
    FarClerk clerk(job.trip);
    Poster poster = probe_poster<Poster>(job, job.far, job.trip.far.route);
    report.operations = answers(clerk, poster, operations);
    if (report.operations > 0) (void)poster.wait();
    report_probe(poster, report, job.ring_status + 1);
  }
}

template <class Poster>
__global__ void ring_put_kernel(RingPutJob job) {
  PutClerk clerk(job.put);
  LaneReport& report = *job.put.report;
  report.span.begin();
  {
    Poster poster(job.ring, job.request);
    report.operations = puts(clerk, poster, job.put.warmup + job.put.operations);
    report.result = {poster.status()};
    *job.status = poster.status();
  }
  report.span.end();
}

template <class Way, class Poster, class Burst, class Handle>
LoadKernels<Handle> load_kernels_of(const char* name) {
  return {.bulk = gpu::kernel_of(&bulk_kernel<Way, Handle>, name),
          .probe = gpu::kernel_of(&probe_kernel<Poster, Handle>, name),
          .burst = gpu::kernel_of(&burst_kernel<Burst, Handle>, name)};
}

}  // namespace marrow::experiments
