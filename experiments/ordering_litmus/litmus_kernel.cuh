// SPDX-License-Identifier: Apache-2.0
// The kernel of ordering-litmus: one thread of one CTA.
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

template <gda::PolicyType P>
__global__ void litmus_kernel(LitmusLaunch launch) {
  LitmusClerk clerk(launch.job.stop);
  LitmusReport report;
  report.span.begin();
  litmus_puts<Unguarded<P>>(clerk, launch.job, report);
  report.span.end();
  *launch.report = report;
}

template <gda::PolicyType P>
gpu::Kernel<LitmusLaunch> litmus_kernel_of() {
  return gpu::kernel_of(&litmus_kernel<P>, "ordering litmus");
}

}  // namespace marrow::experiments
