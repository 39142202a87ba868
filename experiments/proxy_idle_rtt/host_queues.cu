// SPDX-License-Identifier: Apache-2.0
// mini-gda's single puts and round trips on queues in host memory, where the workers' queues lie too.
#include "experiments/common/gpu/kernels.cuh"
#include "experiments/proxy_idle_rtt/proxy_idle_rtt_gpu.h"

namespace marrow::experiments {
namespace {

using Putter = GdaPoster<gda::Placed<gda::SystemFence, gda::Mem::kHost>, gda::NoProbe, Source::kRegister>;

}  // namespace

HostQueueKernels host_queue_kernels() {
  return {.put = gpu::kernel_of(&put_kernel<Putter>, "mini-gda put, host queues"),
          .trip = gpu::kernel_of(&trip_kernel<Putter>, "mini-gda round trip, host queues")};
}

}  // namespace marrow::experiments
