// SPDX-License-Identifier: Apache-2.0
// The kernels of gdaki-publication's rates. Every thread is a team of its own; its slots become ready in reservation
// order, so lanes that drift apart wait for each other.
#include "experiments/gdaki_publication/publication_rate.h"
#include "experiments/gdaki_publication/publications.h"
#include "experiments/gpu_rate/rate_lanes.cuh"
#include "marrow/gda/shared_queue.h"

namespace marrow::experiments {
namespace {

/// A lane that failed goes on meeting the others.
template <gda::PolicyType P, bool kInStep>
__device__ gda::Result publish_each(gda::SendQueue<P>& sq, const RateTarget& target, std::uint32_t rounds) {
  const gda::Solo team;
  gda::Ticket ticket;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    if (ticket.status == gda::Status::kOk) {
      const auto slots = sq.reserve(team, 1);
      write_stamped(sq, slots[0], target);
      ticket = sq.submit(team, slots);
    }
    if constexpr (kInStep) __syncwarp();
  }
  return sq.wait(team, ticket);
}

template <gda::PolicyType P, bool kInStep>
__global__ void publication_kernel(RateJob job) {
  const gda::Qp qp = job.set.qps[blockIdx.x];
  gda::Result result;
  const auto begin_ns = gda::lane_clock_ns();
  {
    gda::SendQueue<P> sq(qp);
    result = publish_each<P, kInStep>(sq, rate_target(job, blockIdx.x), job.rounds);
  }
  report_times(*job.report, begin_ns, gda::lane_clock_ns());
  report_failure<P>(*job.report, qp, result);
}

}  // namespace

gpu::Kernel<RateJob> publication_rate_kernel(std::string_view policy, bool in_step) {
  gpu::Kernel<RateJob> kernel;
  RatedPublications::visit(policy, [&]<gda::PolicyType P>() {
    kernel = in_step ? gpu::kernel_of(&publication_kernel<P, true>, "publication rate, in step")
                     : gpu::kernel_of(&publication_kernel<P, false>, "publication rate");
  });
  return kernel;
}

}  // namespace marrow::experiments
