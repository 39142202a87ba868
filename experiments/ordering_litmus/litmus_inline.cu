// SPDX-License-Identifier: Apache-2.0
// The kernels of ordering-litmus whose payload is a register's, with either place of the doorbell.
#include "experiments/ordering_litmus/litmus_kernel.cuh"

namespace marrow::experiments {

gpu::Kernel<LitmusLaunch> litmus_inline_kernel(std::string_view policy) {
  gpu::Kernel<LitmusLaunch> kernel;
  gda::OrderingPolicies::visit(policy, [&]<gda::PolicyType P>() { kernel = litmus_kernel_of<P>(); });
  return kernel;
}

gpu::Kernel<LitmusLaunch> litmus_word_kernel(std::string_view policy) {
  gpu::Kernel<LitmusLaunch> kernel;
  gda::OrderingPolicies::visit(policy, [&]<gda::PolicyType P>() { kernel = litmus_kernel_of<gda::Forwarded<P>>(); });
  return kernel;
}

}  // namespace marrow::experiments
