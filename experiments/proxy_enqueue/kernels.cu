// SPDX-License-Identifier: Apache-2.0
// One thread hands descriptors over, one outstanding at a time. It times with clock64 and measures that clock's rate
// in the same kernel.
#include "experiments/proxy_enqueue/kernels.h"

namespace marrow::experiments::enqueue {
namespace {

struct Ticks {
  __device__ std::uint64_t operator()() const { return gda::lane_ticks(); }
};

template <class H>
__global__ void enqueue_timed(EnqueueJob job) {
  gpu::Span span;
  span.begin();
  proxy::Producer<H> producer(job.ring);
  job.report->outcome = hand_over(producer, job.block, Ticks{});
  span.end();
  job.report->span = span;
}

template <class H>
__global__ void enqueue_counted(EnqueueJob job) {
  proxy::Producer<H, proxy::CountingProbe> producer(job.ring);
  job.report->outcome = hand_over(producer, job.block, Ticks{});
  job.report->counts = producer.probe().counts;
}

}  // namespace

EnqueueKernels enqueue_kernels(std::string_view hand_off) {
  EnqueueKernels kernels;
  proxy::HandOffSteps::visit(hand_off, [&]<proxy::HandOffType H>() {
    kernels = {gpu::kernel_of(&enqueue_timed<H>, "enqueue_timed"),
               gpu::kernel_of(&enqueue_counted<H>, "enqueue_counted")};
  });
  return kernels;
}

}  // namespace marrow::experiments::enqueue
