// SPDX-License-Identifier: Apache-2.0
// The kernels of queue-placement: single puts of 8 bytes from a register.
#include "experiments/common/gpu/kernels.cuh"
#include "experiments/queue_placement/queue_placement_kernels.h"
#include "experiments/queue_placement/queue_placement_policies.h"

namespace marrow::experiments {
namespace {

template <class P, class Probe = gda::NoProbe>
using Putter = GdaPoster<P, Probe, Source::kRegister>;

template <class P>
PutKernels puts_of() {
  return {.time = gpu::kernel_of(&put_kernel<Putter<P>>, "queue-placement put"),
          .count = gpu::kernel_of(&put_kernel<Putter<P, gda::CountingProbe>>, "queue-placement count"),
          .stages = gpu::kernel_of(&put_kernel<Putter<P, gda::StageProbe>>, "queue-placement stages")};
}

}  // namespace

PutKernels queue_placement_puts(std::string_view policy) {
  if (policy == PlacedGpuFence::name) return puts_of<PlacedGpuFence>();
  if (policy == PlacedSystemFence::name) return puts_of<PlacedSystemFence>();
  if (policy == PlacedSystemRelease::name) return puts_of<PlacedSystemRelease>();
  throw util::Error("queue-placement has no such policy");
}

}  // namespace marrow::experiments
