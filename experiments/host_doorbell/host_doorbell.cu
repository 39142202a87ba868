// SPDX-License-Identifier: Apache-2.0
// The kernels of host-doorbell: the same put, announced by the lane or by a word for the host.
#include "experiments/common/gpu/kernels.cuh"
#include "experiments/host_doorbell/host_doorbell_kernels.h"
#include "experiments/host_doorbell/host_doorbell_policies.h"

namespace marrow::experiments {
namespace {

template <class P>
PutKernels puts_of() {
  return {
      .time = gpu::kernel_of(&put_kernel<GdaPoster<P, gda::NoProbe, Source::kRegister>>, "host-doorbell put"),
      .count = gpu::kernel_of(&put_kernel<GdaPoster<P, gda::CountingProbe, Source::kRegister>>, "host-doorbell count")};
}

}  // namespace

PutKernels host_doorbell_puts(bool by_host) {
  return by_host ? puts_of<RungForLane>() : puts_of<RungByLane>();
}

}  // namespace marrow::experiments
