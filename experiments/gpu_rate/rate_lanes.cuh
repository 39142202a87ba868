// SPDX-License-Identifier: Apache-2.0
// The kernels of gpu-rate as templates: which team this lane is in, its queue, and its times. For .cu files.
#pragma once

#include <cuda/atomic>

#include "experiments/gpu_rate/gpu_rate_policies.h"
#include "experiments/gpu_rate/rate_kernels.h"
#include "experiments/gpu_rate/rate_loop.h"
#include "marrow/gda/queue_set.h"
#include "marrow/gda/team.h"

namespace marrow::experiments {

template <class T>
using OfGpu = cuda::atomic_ref<T, cuda::thread_scope_device>;

__device__ inline RateTarget rate_target(const RateJob& job, std::uint32_t queue) {
  return {job.to + queue * kRateFarBytes, kRateWqebbs - 1, queue};
}

/// By the team's leader: the repetition lasts from the first team's start to the last one's end.
__device__ inline void report_times(RateReport& report, std::uint64_t begin_ns, std::uint64_t end_ns) {
  OfGpu<std::uint64_t>(report.begin_ns).fetch_min(begin_ns, cuda::memory_order_relaxed);
  OfGpu<std::uint64_t>(report.end_ns).fetch_max(end_ns, cuda::memory_order_relaxed);
}

template <gda::PolicyType P>
__device__ void report_failure(RateReport& report, const gda::Qp& qp, const gda::Result& result) {
  if (result.ok()) return;
  if (OfGpu<std::uint32_t>(report.failed).fetch_add(1, cuda::memory_order_relaxed) != 0) return;
  report.result = result;
  const gda::SendQueue<P> sq(qp);
  report.dump = sq.dump();
}

/// Number of this lane's team in the grid.
template <class Team>
__device__ std::uint32_t team_number() {
  if constexpr (std::is_same_v<Team, gda::Solo>) return blockIdx.x * blockDim.x + threadIdx.x;
  if constexpr (std::is_same_v<Team, gda::Warp>) return gda::warp_number();
  return blockIdx.x;
}

template <gda::PolicyType P, class Team, std::uint32_t kEach>
__global__ void rate_kernel(RateJob job) {
  const Team team;
  const std::uint32_t queue = team_number<Team>() / job.teams_per_queue;
  const gda::Qp qp = job.set.qps[queue];
  gda::Result result;
  const auto begin_ns = gda::lane_clock_ns();
  {
    gda::SendQueue<P> sq(qp);
    result = post_all<kEach>(team, sq, rate_target(job, queue), job.rounds);
  }
  const auto end_ns = gda::lane_clock_ns();
  if (team.rank() != 0) return;
  report_times(*job.report, begin_ns, end_ns);
  report_failure<P>(*job.report, qp, result);
}

}  // namespace marrow::experiments
