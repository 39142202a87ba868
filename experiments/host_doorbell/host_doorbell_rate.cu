// SPDX-License-Identifier: Apache-2.0
// The kernels of host-doorbell's rate: a warp a queue, 32 WQEs under one announcement.
#include "experiments/gpu_rate/rate_lanes.cuh"
#include "experiments/host_doorbell/host_doorbell_kernels.h"

namespace marrow::experiments {

gpu::Kernel<RateJob> host_doorbell_rate(bool by_host) {
  constexpr const char* kName = "host-doorbell rate";
  return by_host ? gpu::kernel_of(&rate_kernel<gda::Forwarded<RateOwn>, gda::Warp, 1>, kName)
                 : gpu::kernel_of(&rate_kernel<RateOwn, gda::Warp, 1>, kName);
}

}  // namespace marrow::experiments
