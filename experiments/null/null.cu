// SPDX-License-Identifier: Apache-2.0
// The kernels of null.
#include "experiments/common/gpu/kernels.cuh"
#include "experiments/null/null_kernels.h"
#include "experiments/null/null_poster.h"

namespace marrow::experiments {
namespace {

__global__ void readings(PutJob job) {
  LaneReport& report = *job.report;
  report.span.begin();
  for (std::uint64_t i = 0; i < job.warmup + job.operations; ++i) {
    PutStamps stamps;
    stamps.start = gda::lane_ticks();
    stamps.issued = gda::lane_ticks();
    stamps.completed = gda::lane_ticks();
    if (i >= job.warmup) job.stamps[i - job.warmup] = stamps;
  }
  report.operations = job.warmup + job.operations;
  report.span.end();
}

}  // namespace

gpu::Kernel<PutJob> null_puts() {
  return gpu::kernel_of(&put_kernel<NullPoster>, "null put");
}

gpu::Kernel<PutJob> bare_readings() {
  return gpu::kernel_of(&readings, "bare readings");
}

}  // namespace marrow::experiments
