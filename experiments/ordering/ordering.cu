// SPDX-License-Identifier: Apache-2.0
// The kernels of ordering: the same put by each of the seven recipes, and each recipe's own floor.
#include "experiments/common/gpu/kernels.cuh"
#include "experiments/ordering/ordering_kernels.h"

namespace marrow::experiments {

PutKernels ordering_puts(std::string_view policy) {
  PutKernels kernels;
  gda::OrderingPolicies::visit(policy, [&]<gda::PolicyType P>() {
    kernels.time = gpu::kernel_of(&put_kernel<GdaPoster<P, gda::NoProbe, Source::kRegister>>, "ordering put");
    kernels.count = gpu::kernel_of(&put_kernel<GdaPoster<P, gda::CountingProbe, Source::kRegister>>, "ordering count");
    kernels.floor = gpu::kernel_of(&put_kernel<FloorPoster<P>>, "ordering floor");
  });
  return kernels;
}

}  // namespace marrow::experiments
