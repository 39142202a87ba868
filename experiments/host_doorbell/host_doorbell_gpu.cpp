// SPDX-License-Identifier: Apache-2.0
// The host's part of host-doorbell on a GPU. SQ and CQ lie in GPU memory either way; the record of a queue that the
// host rings for is the host's to write, and lies there.
#include "experiments/host_doorbell/host_doorbell_gpu.h"

#include <algorithm>
#include <optional>

#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/common/host_rung.h"
#include "experiments/gpu_rate/queue_rates.h"
#include "experiments/gpu_rate/rate_verdict.h"
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

/// The paper's 16 queues.
void add_rate(const Context& context, bool by_host, measure::Record& record) {
  constexpr std::uint32_t kQueues = 16;
  constexpr std::uint32_t kRepetitions = 20;
  const QueueRateSetup setup{
      .grid = {.blocks = kQueues, .threads = 32}, .rounds = 2048, .teams_per_queue = 1, .wqes_a_round = 32};
  const GpuBundle bundle(context, rate_bundle(kQueues), by_host ? RungForLane::placement : RungByLane::placement);
  std::vector<gda::Qp> of_host;
  for (const auto& queue : bundle.ends().a().queues) of_host.push_back(queue.handle());
  std::vector<gda::Qp> lanes = bundle.on_lanes();
  std::optional<HostRung> rung;
  if (by_host) {
    rung.emplace(context, of_host, gpu::pinned_source(bundle.device()));
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = rung->forwarded(lanes[i], i);
  }
  QueueRates rates(context, bundle, lanes);
  (void)rates.repeat(host_doorbell_rate(by_host), setup, context.warmup > 0 ? 2 : 0);
  const auto per_ns = rates.repeat(host_doorbell_rate(by_host), setup, std::min(kRepetitions, context.iterations));
  if (!per_ns.empty()) (void)add_rates(record, "message rate", context.nic_kind, per_ns);
  if (rung) rung->finish(record);
}

}  // namespace

void host_doorbell_on_gpu(Context& context, const Point& point, measure::Record& record) {
  if (point.text("rung_by") == kByLane) {
    rung_by_lane(context, record);
    add_rate(context, false, record);
  } else {
    measure::Record beside;
    rung_by_lane(context, beside);
    rung_by_host(context, record);
    add_price(context, beside, record);
    add_rate(context, true, record);
  }
  record.verified = true;
}

}  // namespace marrow::experiments
