// SPDX-License-Identifier: Apache-2.0
// The two ends of the row of hand-offs: single puts and round trips by each.
#include "experiments/common/load/gpu/load_lanes.cuh"
#include "experiments/common/load/gpu/ring_kernels.h"

namespace marrow::experiments {
namespace {

template <class H>
RingKernels kernels_of(const char* name) {
  return {.put = gpu::kernel_of(&ring_put_kernel<ProxyPoster<H>>, name),
          .probe = gpu::kernel_of(&probe_kernel<ProxyPoster<H>, proxy::Ring>, name)};
}

}  // namespace

RingKernels baseline_kernels() {
  return kernels_of<proxy::Baseline>("single messages, baseline");
}
RingKernels tuned_kernels() {
  return kernels_of<proxy::Tuned>("single messages, tuned");
}

}  // namespace marrow::experiments
