// SPDX-License-Identifier: Apache-2.0
// The host's part of sm-clock: single-op's kernels, at one locked clock after the other.
#include "experiments/sm_clock/sm_clock_gpu.h"

#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/single_op/single_op_gpu.h"
#include "experiments/single_op/single_op_policies.h"
#include "experiments/sm_clock/clock_sweep.h"
#include "experiments/sm_clock/permission.h"
#include "gpu/clock_keeper.h"
#include "gpu/clocks.h"

namespace marrow::experiments {
namespace {

constexpr unsigned kPasses = 3;

}  // namespace

void sm_clock_on_gpu(Context& context, const Point& point, measure::Record& record) {
  require_permission(context);
  auto& device = *context.gpu;
  const gpu::Nvml nvml(device.facts().pci);
  GpuBench bench(context);
  report_path(context, bench, 1);
  const auto kernel = single_op_puts(single_op_row(point)).time;
  gpu::ClockLock lock(*context.clock_keeper, nvml);
  const ClockBench at_clocks{.lock = [&](unsigned mhz) { lock.set(mhz); },
                             .measured_mhz = [&] { return gpu::measure_clocks(device).sm_mhz; },
                             .puts =
                                 [&] {
                                   auto job = put_job(bench, kSingleOpBytes);
                                   job.warmup = context.warmup;
                                   job.operations = context.iterations;
                                   return timed_on_gpu(context, kernel, job);
                                 }};
  add_sweep(record, context.nic_kind, sweep_clocks(clocks_of_sweep(nvml.sm_clocks()), kPasses, at_clocks));
  record.verified = true;
}

}  // namespace marrow::experiments
