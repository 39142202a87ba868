// SPDX-License-Identifier: Apache-2.0
// The kernels of gdaki-publication: one thing at a time.
#include "experiments/gdaki_publication/publication_kernel.cuh"

namespace marrow::experiments {

PutKernels shared_queue_puts(std::string_view policy) {
  return publication_puts<gda::List<NobodyElse, LockForWqe, ReadyIndex, CompareSwap, TurnIsLock, AtomicMax>>(policy);
}

}  // namespace marrow::experiments
