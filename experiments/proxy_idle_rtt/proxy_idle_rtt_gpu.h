// SPDX-License-Identifier: Apache-2.0
// proxy-idle-rtt on lanes of a GPU; only in builds with CUDA.
#pragma once

#include "experiments/common/gpu/jobs.h"
#include "experiments/experiment.h"
#include "gpu/launch.h"

namespace marrow::experiments {

void proxy_idle_rtt_on_gpu(Context& context, const Point& point, measure::Record& record);

/// mini-gda beside it: queues in host memory, so that the same engine serves it.
struct HostQueueKernels {
  gpu::Kernel<PutJob> put;
  gpu::Kernel<TripJob> trip;
};
[[nodiscard]] HostQueueKernels host_queue_kernels();

}  // namespace marrow::experiments
