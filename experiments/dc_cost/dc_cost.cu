// SPDX-License-Identifier: Apache-2.0
// The kernels of dc-cost: single puts of 8 bytes from a register, and bursts.
#include "experiments/common/gpu/kernels.cuh"
#include "experiments/dc_cost/dc_cost_kernels.h"
#include "experiments/dc_cost/dc_cost_policies.h"

namespace marrow::experiments {
namespace {

template <class P>
PutKernels puts_of() {
  return {.time = gpu::kernel_of(&put_kernel<GdaPoster<P, gda::NoProbe, Source::kRegister>>, "dc-cost put"),
          .count = gpu::kernel_of(&put_kernel<GdaPoster<P, gda::CountingProbe, Source::kRegister>>, "dc-cost count")};
}

template <class P>
gpu::Kernel<PutJob> bursts_of() {
  return gpu::kernel_of(&put_kernel<BurstPoster<P, kDcBurst>>, "dc-cost burst");
}

}  // namespace

PutKernels dc_cost_puts(DcRow::Transport transport) {
  if (transport == DcRow::Transport::kCompact) return puts_of<CompactPut>();
  return transport == DcRow::Transport::kFull ? puts_of<FullPut>() : puts_of<RcPut>();
}

gpu::Kernel<PutJob> dc_cost_bursts(DcRow::Transport transport) {
  if (transport == DcRow::Transport::kCompact) return bursts_of<CompactPut>();
  return transport == DcRow::Transport::kFull ? bursts_of<FullPut>() : bursts_of<RcPut>();
}

}  // namespace marrow::experiments
