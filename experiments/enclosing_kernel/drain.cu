// SPDX-License-Identifier: Apache-2.0
// See drain.h.
#include "experiments/enclosing_kernel/drain.h"
#include "marrow/gda/send_queue.h"

namespace marrow::experiments::enclosing {

extern "C" __global__ void enclosing_drain(const __grid_constant__ Job job) {
  gda::SendQueue<gda::GpuFence> queue{job.qps[blockIdx.x]};
  const auto result = queue.drain(gda::Solo{});
  if (!result.ok()) job.failures[blockIdx.x] = static_cast<std::uint32_t>(result.status);
}

gpu::Kernel<Job> drain_kernel() {
  return gpu::kernel_of(enclosing_drain, "enclosing_drain");
}

}  // namespace marrow::experiments::enclosing
