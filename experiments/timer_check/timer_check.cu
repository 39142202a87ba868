// SPDX-License-Identifier: Apache-2.0
// The kernel of timer-check: round trips whose far lane waits by globaltimer before every second answer.
#include "experiments/common/gpu/kernels.cuh"
#include "experiments/timer_check/timer_check_kernels.h"

namespace marrow::experiments {

gpu::Kernel<TripJob> timer_check_trips() {
  return gpu::kernel_of(&trip_kernel<GdaPoster<gda::GpuFence, gda::NoProbe, Source::kRegister>>, "timer-check");
}

}  // namespace marrow::experiments
