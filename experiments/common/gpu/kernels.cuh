// SPDX-License-Identifier: Apache-2.0
// The kernels of single puts and round trips, as templates for an experiment's .cu file. One thread of one CTA a lane.
#pragma once

#include <cstring>
#include <type_traits>

#include "experiments/common/gpu/clerks.cuh"
#include "experiments/common/gpu/floor_poster.h"
#include "experiments/common/gpu/jobs.h"
#include "experiments/common/put_loop.h"
#include "experiments/common/trip_loop.h"
#include "gpu/launch.h"
#include "marrow/gda/send_queue.h"

namespace marrow::experiments {

/// What the host needs to know of a loop that ended early. The poster is gone: its indices are back in the queue's
/// counters.
template <gda::PolicyType P>
__device__ void finish_report(const gda::Qp& qp, const gda::Result& result, LaneReport& report) {
  report.result = result;
  if (result.ok()) return;
  const gda::SendQueue<P> sq(qp);
  report.dump = sq.dump();
}

/// The same value, loaded from shared memory. A kernel's parameters the compiler keeps in no register: it loads them
/// from constant memory wherever they are used, some 40 cycles each, inside the timed window. What comes from memory it
/// loads once. For kernels of one lane a CTA.
template <class T>
__device__ T in_registers(const T& parameter) {
  constexpr std::size_t kWords = sizeof(T) / sizeof(std::uint64_t);
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0);
  __shared__ volatile std::uint64_t words[kWords];
  std::uint64_t copy[kWords];
  memcpy(copy, &parameter, sizeof(T));
  for (std::size_t i = 0; i < kWords; ++i) words[i] = copy[i];
  for (std::size_t i = 0; i < kWords; ++i) copy[i] = words[i];
  T same = parameter;
  memcpy(&same, copy, sizeof(T));
  return same;
}

/// A poster of one queue, of the job's set, or of a DCI.
template <class Poster>
__device__ Poster poster_of(const PutJob& job) {
  if constexpr (std::is_constructible_v<Poster, const gda::QueueSet&, const Route&>) {
    return Poster(job.set, job.route);
  } else if constexpr (std::is_constructible_v<Poster, const gda::Qp&, const Route&, const Aims&>) {
    return Poster(in_registers(job.qp), in_registers(job.route), in_registers(job.aims));
  } else {
    return Poster(in_registers(job.qp), in_registers(job.route));
  }
}

template <class Poster>
__global__ void put_kernel(PutJob job) {
  PutClerk clerk(job);
  LaneReport& report = *job.report;
  gda::Result result;
  report.span.begin();
  {
    Poster poster = poster_of<Poster>(job);
    report.operations = puts(clerk, poster, job.warmup + job.operations);
    result = poster.result();
    if constexpr (requires { poster.probe().counts; }) report.counts = poster.probe().counts;
  }
  report.span.end();
  finish_report<typename Poster::Policy>(job.qp, result, report);
}

template <class Poster>
__device__ void near_lane(const TripJob& job, LaneReport& report) {
  NearClerk clerk(job);
  gda::Result result;
  report.span.begin();
  {
    Poster poster(in_registers(job.near.qp), in_registers(job.near.route));
    report.operations = round_trips(clerk, poster, job.warmup + job.operations);
    result = poster.result();
  }
  publish(job.near_ended, 1U);
  report.span.end();
  finish_report<typename Poster::Policy>(job.near.qp, result, report);
}

template <class Poster>
__device__ void far_lane(const TripJob& job, LaneReport& report) {
  FarClerk clerk(job);
  gda::Result result;
  {
    Poster poster(in_registers(job.far.qp), in_registers(job.far.route));
    report.operations = answers(clerk, poster, job.warmup + job.operations);
    if (report.operations > 0) (void)poster.wait();
    result = poster.result();
  }
  finish_report<typename Poster::Policy>(job.far.qp, result, report);
}

/// Grid: two CTAs of one thread.
template <class Poster>
__global__ void trip_kernel(TripJob job) {
  if (blockIdx.x == 0) {
    near_lane<Poster>(job, job.reports[0]);
  } else {
    far_lane<Poster>(job, job.reports[1]);
  }
}

}  // namespace marrow::experiments
