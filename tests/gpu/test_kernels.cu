// SPDX-License-Identifier: Apache-2.0
// See test_kernels.h.
#include "experiments/common/gpu/clerks.cuh"
#include "gpu/test_kernels.h"
#include "marrow/gda/team.h"

namespace marrow::test {
namespace {

__global__ void spin(SpinJob job) {
  const auto until = gda::lane_clock_ns() + job.ns;
  bool stopped = false;
  while (!stopped && gda::lane_clock_ns() < until) stopped = job.stop != nullptr && experiments::poll(job.stop) != 0;
  *job.ended = stopped ? 1 : 2;
}

}  // namespace

gpu::Kernel<SpinJob> spin_kernel() {
  return gpu::kernel_of(&spin, "spin");
}

}  // namespace marrow::test
