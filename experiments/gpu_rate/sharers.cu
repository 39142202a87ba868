// SPDX-License-Identifier: Apache-2.0
// Lanes and warps that share queues, and the change from exclusive to shared use.
#include "experiments/gpu_rate/rate_lanes.cuh"
#include "marrow/gda/shared_queue.h"

namespace marrow::experiments {
namespace {

__global__ void share_kernel(RateShareJob job) {
  for (std::uint32_t i = threadIdx.x; i < job.set.count; i += blockDim.x) {
    gda::begin_sharing(*job.set.qps[i].counters);
  }
}

}  // namespace

gpu::Kernel<RateJob> rate_kernel_of_sharers(const RateRow& row) {
  constexpr const char* kName = "gpu-rate, shared queues";
  if (row.how == RateHow::kLock) return gpu::kernel_of(&rate_kernel<RateLock, gda::Solo, 1>, kName);
  if (row.how == RateHow::kThreadSlots) return gpu::kernel_of(&rate_kernel<RateThreadSlots, gda::Solo, 1>, kName);
  const bool alone = row.threads / row.queues == gda::Warp::size();
  if (row.how == RateHow::kWarpSlots && alone) {
    return gpu::kernel_of(&rate_kernel<RateWarpAlone, gda::Warp, 1>, kName);
  }
  if (row.how == RateHow::kWarpSlots) return gpu::kernel_of(&rate_kernel<RateWarpSlots, gda::Warp, 1>, kName);
  return gpu::kernel_of(&rate_kernel<RateWarpSlotsInBlock, gda::Warp, 1>, kName);
}

gpu::Kernel<RateShareJob> rate_share_kernel() {
  return gpu::kernel_of(&share_kernel, "gpu-rate, begin sharing");
}

}  // namespace marrow::experiments
