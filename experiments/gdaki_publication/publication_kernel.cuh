// SPDX-License-Identifier: Apache-2.0
// One put by a policy for shared queues, timed and counted. For .cu files.
#pragma once

#include "experiments/common/gpu/kernels.cuh"
#include "experiments/gdaki_publication/publication_kernels.h"
#include "experiments/gdaki_publication/publications.h"
#include "marrow/gda/shared_queue.h"

namespace marrow::experiments {

template <class Policies>
PutKernels publication_puts(std::string_view policy) {
  PutKernels kernels;
  Policies::visit(policy, [&]<gda::PolicyType P>() {
    kernels.time = gpu::kernel_of(&put_kernel<GdaPoster<P, gda::NoProbe, Source::kRegister>>, "publication put");
    kernels.count =
        gpu::kernel_of(&put_kernel<GdaPoster<P, gda::CountingProbe, Source::kRegister>>, "publication count");
  });
  return kernels;
}

}  // namespace marrow::experiments
