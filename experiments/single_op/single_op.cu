// SPDX-License-Identifier: Apache-2.0
// The kernels of single-op. Inline payload comes from a register: a lane that sends 8 bytes has just computed them.
#include "experiments/common/gpu/kernels.cuh"
#include "experiments/single_op/single_op_kernels.h"
#include "experiments/single_op/single_op_policies.h"

namespace marrow::experiments {
namespace {

template <class P, class Probe = gda::NoProbe>
using Putter = GdaPoster<P, Probe, P::payload == gda::Payload::kInline ? Source::kRegister : Source::kMemory>;

template <class P>
PutKernels puts_of() {
  return {.time = gpu::kernel_of(&put_kernel<Putter<P>>, "single-op put"),
          .count = gpu::kernel_of(&put_kernel<Putter<P, gda::CountingProbe>>, "single-op count"),
          .floor = gpu::kernel_of(&put_kernel<FloorPoster<P>>, "single-op floor"),
          .stages = gpu::kernel_of(&put_kernel<Putter<P, gda::StageProbe>>, "single-op stages")};
}

template <class P>
gpu::Kernel<TripJob> trips_of() {
  return gpu::kernel_of(&trip_kernel<Putter<P>>, "single-op round trip");
}

}  // namespace

PutKernels single_op_puts(SingleOpRow row) {
  if (row == SingleOpRow::kPointer) return puts_of<SingleOpPointer>();
  return row == SingleOpRow::kInline ? puts_of<SingleOpInline>() : puts_of<SingleOpUnordered>();
}

gpu::Kernel<TripJob> single_op_round_trips(SingleOpRow row) {
  if (row == SingleOpRow::kPointer) return trips_of<SingleOpPointer>();
  return row == SingleOpRow::kInline ? trips_of<SingleOpInline>() : trips_of<SingleOpUnordered>();
}

}  // namespace marrow::experiments
