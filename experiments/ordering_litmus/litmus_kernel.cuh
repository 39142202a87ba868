// SPDX-License-Identifier: Apache-2.0
// The kernel of ordering-litmus: one thread that posts, and where asked for a crowd that stores beside it.
#pragma once

#include "experiments/common/gpu/clerks.cuh"
#include "experiments/ordering_litmus/litmus_kernels.h"
#include "experiments/ordering_litmus/litmus_loop.h"

namespace marrow::experiments {

class LitmusClerk {
 public:
  MARROW_HD explicit LitmusClerk(const std::uint32_t* stop) : stop_(stop) {}
  [[nodiscard]] MARROW_HD bool stopping(std::uint64_t n) const { return n % 1024 == 0 && is_stopped(stop_, n); }
  [[nodiscard]] MARROW_HD std::uint64_t ticks() const { return gda::lane_ticks(); }
  [[nodiscard]] MARROW_HD std::uint64_t poll(const std::uint64_t* at) const { return experiments::poll(at); }

 private:
  const std::uint32_t* stop_;
};

/// Stores to host memory for as long as the lane posts, so that its own stores queue with others'.
__device__ inline void crowd(const LitmusJob& job) {
  auto* const mine = reinterpret_cast<uint4*>(job.crowd + (blockIdx.x - 1) * kCrowdBytes);
  constexpr std::uint32_t kWords = kCrowdBytes / sizeof(uint4);
  for (std::uint32_t at = threadIdx.x; poll(job.crowd_ends) == 0; at = (at + kCrowdThreads) % kWords) {
    mine[at] = uint4{at, at, at, at};
  }
}

/// The lane is one thread of the first CTA; further CTAs are the crowd.
template <gda::PolicyType P>
__global__ void litmus_kernel(LitmusLaunch launch) {
  if (blockIdx.x != 0) return crowd(launch.job);
  if (threadIdx.x != 0) return;
  LitmusClerk clerk(launch.job.stop);
  LitmusReport report;
  report.span.begin();
  litmus_puts<Unguarded<P>>(clerk, launch.job, report);
  report.span.end();
  *launch.report = report;
  if (launch.job.crowd_ends != nullptr) publish(launch.job.crowd_ends, 1U);
}

template <gda::PolicyType P>
gpu::Kernel<LitmusLaunch> litmus_kernel_of() {
  return gpu::kernel_of(&litmus_kernel<P>, "ordering litmus");
}

}  // namespace marrow::experiments
