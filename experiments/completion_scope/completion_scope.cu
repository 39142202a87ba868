// SPDX-License-Identifier: Apache-2.0
// The kernels of completion-scope.
#include "experiments/common/gpu/kernels.cuh"
#include "experiments/completion_scope/completion_scope_kernels.h"
#include "experiments/completion_scope/completion_scope_policies.h"

namespace marrow::experiments {
namespace {

template <class P>
gpu::Kernel<PutJob> kernel_for(std::string_view scope) {
  constexpr const char* kName = "completion-scope put";
  if (scope == "ticket") return gpu::kernel_of(&put_kernel<TicketPoster<P>>, kName);
  if (scope == "used queue") return gpu::kernel_of(&put_kernel<QuietPoster<P>>, kName);
  return gpu::kernel_of(&put_kernel<QuietPoster<gda::QuietAll<P>>>, kName);
}

}  // namespace

gpu::Kernel<PutJob> completion_scope_kernel(std::string_view sharing, std::string_view scope) {
  return sharing == "none" ? kernel_for<ScopeOwn>(scope) : kernel_for<ScopeShared>(scope);
}

}  // namespace marrow::experiments
