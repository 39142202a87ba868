// SPDX-License-Identifier: Apache-2.0
// The kernels of dc-cost: single puts of 8 bytes from a register, and bursts.
#include "experiments/common/gpu/kernels.cuh"
#include "experiments/dc_cost/dc_cost_kernels.h"
#include "experiments/dc_cost/dc_cost_policies.h"
#include "experiments/dc_cost/dc_poster.h"

namespace marrow::experiments {
namespace {

template <class Timed, class Counted>
PutKernels puts_of() {
  return {.time = gpu::kernel_of(&put_kernel<Timed>, "dc-cost put"),
          .count = gpu::kernel_of(&put_kernel<Counted>, "dc-cost count")};
}

template <class P>
PutKernels dc_puts_of() {
  return puts_of<DcPoster<P, gda::NoProbe, Source::kRegister>, DcPoster<P, gda::CountingProbe, Source::kRegister>>();
}

}  // namespace

PutKernels dc_cost_puts(DcRow::Transport transport) {
  if (transport == DcRow::Transport::kCompact) return dc_puts_of<CompactPut>();
  if (transport == DcRow::Transport::kFull) return dc_puts_of<FullPut>();
  return puts_of<GdaPoster<RcPut, gda::NoProbe, Source::kRegister>,
                 GdaPoster<RcPut, gda::CountingProbe, Source::kRegister>>();
}

gpu::Kernel<PutJob> dc_cost_bursts(DcRow::Transport transport) {
  constexpr const char* kName = "dc-cost burst";
  if (transport == DcRow::Transport::kCompact) {
    return gpu::kernel_of(&put_kernel<DcBurstPoster<CompactPut, kDcBurst>>, kName);
  }
  if (transport == DcRow::Transport::kFull) {
    return gpu::kernel_of(&put_kernel<DcBurstPoster<FullPut, kDcBurst>>, kName);
  }
  return gpu::kernel_of(&put_kernel<BurstPoster<RcPut, kDcBurst>>, kName);
}

}  // namespace marrow::experiments
