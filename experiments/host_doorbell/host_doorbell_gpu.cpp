// SPDX-License-Identifier: Apache-2.0
// The host's part of host-doorbell on a GPU. SQ and CQ lie in GPU memory either way; the record of a queue that the
// host rings for is the host's to write, and lies there.
#include "experiments/host_doorbell/host_doorbell_gpu.h"

#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/common/host_rung.h"
#include "experiments/host_doorbell/host_doorbell_kernels.h"
#include "experiments/host_doorbell/host_doorbell_policies.h"
#include "experiments/host_doorbell/host_doorbell_price.h"
#include "gpu/memory.h"

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kBytes = 8;

void rung_by_lane(const Context& context, measure::Record& record) {
  GpuBench bench(context);
  report_path(context, bench, /*lanes=*/1);
  measure_puts_on_gpu(context, bench, host_doorbell_puts(false), kBytes, {.each = counts_of_put(false)}, record);
}

void rung_by_host(const Context& context, measure::Record& record) {
  GpuBench bench(context, {.placement = RungForLane::placement});
  report_host_rung_path(context, bench, /*lanes=*/1);
  HostRung rung(context, {bench.a().queue.handle()}, gpu::pinned_source(bench.device()));
  auto job = put_job(bench, kBytes);
  job.qp = rung.forwarded(job.qp);
  measure_puts_on_gpu(context, bench, host_doorbell_puts(true), job, {.each = counts_of_put(true)}, record);
  rung.finish(record);
}

}  // namespace

void host_doorbell_on_gpu(Context& context, const Point& point, measure::Record& record) {
  if (point.text("rung_by") == kByLane) {
    rung_by_lane(context, record);
  } else {
    measure::Record beside;
    rung_by_lane(context, beside);
    rung_by_host(context, record);
    add_price(context, beside, record);
  }
  record.verified = true;
}

}  // namespace marrow::experiments
