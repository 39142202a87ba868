// SPDX-License-Identifier: Apache-2.0
// The host's part of proxy-idle-rtt on a GPU.
#include "experiments/proxy_idle_rtt/proxy_idle_rtt_gpu.h"

#include "experiments/proxy_idle_rtt/gpu_times.h"

namespace marrow::experiments {
namespace {

SingleTimes times_of_gda(const Context& context) {
  GpuBench bench(context, {.placement = gda::all_in(gda::Mem::kHost), .payload = gda::Mem::kHost});
  auto job = put_job(bench, kIdleBytes);
  job.warmup = context.warmup;
  job.operations = context.iterations;
  const auto kernels = host_queue_kernels();
  const auto puts = timed_on_gpu(context, kernels.put, job);
  return {{}, values_of(puts.completion), trips_on_gpu(context, bench, kernels.trip).by_ticks_ns};
}

}  // namespace

void proxy_idle_rtt_on_gpu(Context& context, const Point& point, measure::Record& record) {
  if (point.policy == proxy::Baseline::name) {
    add_single_times(context, gpu_single_times<proxy::Baseline>(context, true), record);
  } else {
    add_single_times(context, gpu_single_times<proxy::Tuned>(context, true), record);
    add_beside(context, {gpu_single_times<proxy::Baseline>(context, false), times_of_gda(context)}, record);
  }
  record.verified = true;
}

}  // namespace marrow::experiments
