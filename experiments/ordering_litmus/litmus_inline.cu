// SPDX-License-Identifier: Apache-2.0
// The kernels of ordering-litmus whose payload is a register's.
#include "experiments/ordering_litmus/litmus_kernel.cuh"

namespace marrow::experiments {

gpu::Kernel<LitmusLaunch> litmus_inline_kernel(std::string_view policy) {
  gpu::Kernel<LitmusLaunch> kernel;
  gda::OrderingPolicies::visit(policy, [&]<gda::PolicyType P>() { kernel = litmus_kernel_of<P>(); });
  return kernel;
}

}  // namespace marrow::experiments
