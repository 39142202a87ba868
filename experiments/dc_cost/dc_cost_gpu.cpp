// SPDX-License-Identifier: Apache-2.0
// The host's part of dc-cost on a GPU. Queues, address vectors and payload lie in GPU memory.
#include "experiments/dc_cost/dc_cost_gpu.h"

#include <algorithm>

#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/dc_cost/dc_cost_kernels.h"
#include "experiments/dc_cost/dc_cost_policies.h"
#include "gpu/memory.h"

namespace marrow::experiments {
namespace {

using measure::Kind;
using measure::Record;
using Transport = DcRow::Transport;

/// A DCI beside the bench, as kernels take it.
struct DcOnGpu {
  DcOnGpu(const Context& context, const GpuBench& bench, bool compact)
      : ends(bench, patient({.memory = memory_for(context, {}).queues}), compact),
        doorbell(*context.gpu, ends.dci().handle().doorbell, gpu::DoorbellKind::kIoMemory),
        avs(*context.gpu, ends.avs().size()) {
    avs.write(ends.avs());
  }

  /// The bench's job, through the DCI.
  [[nodiscard]] PutJob job(GpuBench& bench, bool new_destination) const {
    auto made = put_job(bench, kDcBytes);
    made.qp = on_gpu(ends.dci(), doorbell);
    made.aims = {avs.data(), new_destination ? kDcTargets - 1 : 0};
    return made;
  }

  DcEnds ends;
  gpu::Doorbell doorbell;
  gpu::Array<wire::AddressVector> avs;
};

PutTimes bursts(const Context& context, Transport transport, PutJob job) {
  job.warmup = context.warmup / kDcBurst;
  job.operations = std::max(context.iterations / 8, 10U);
  return timed_on_gpu(context, dc_cost_bursts(transport), job);
}

PutTimes singles(const Context& context, Transport transport, PutJob job) {
  job.warmup = context.warmup;
  job.operations = context.iterations;
  return timed_on_gpu(context, dc_cost_puts(transport).time, job);
}

void run_rc(const Context& context, GpuBench& bench, Record& record) {
  measure_puts_on_gpu(context, bench, dc_cost_puts(Transport::kRc), kDcBytes, {.recipe = gda::recipe_for<RcPut>()},
                      record);
  add_rate(record, context.nic_kind, kDcBurst, bursts(context, Transport::kRc, put_job(bench, kDcBytes)).completion);
}

void run_bursts(const Context& context, GpuBench& bench, const DcOnGpu& dc, const DcRow& row, Record& record) {
  const auto same = bursts(context, row.transport, dc.job(bench, false)).completion;
  if (!row.new_destination) return add_rate(record, context.nic_kind, kDcBurst, same);
  const auto changing = bursts(context, row.transport, dc.job(bench, true)).completion;
  add_rate(record, context.nic_kind, kDcBurst, changing);
  add_ratio(context, same, changing, record);
}

void run_dc(const Context& context, GpuBench& bench, const DcRow& row, Record& record) {
  const DcOnGpu dc(context, bench, row.transport == Transport::kCompact);
  const auto rc = singles(context, Transport::kRc, put_job(bench, kDcBytes));
  const auto times = singles(context, row.transport, dc.job(bench, row.new_destination));
  add_time(record, "issue", Kind::kGpu, times.issue);
  add_time(record, "put+completion", context.nic_kind, times.completion);
  add_extra(context, rc.completion, times.completion, record);
  run_bursts(context, bench, dc, row, record);
  const auto segments = row.transport == Transport::kCompact ? kDcSegments<CompactPut> : kDcSegments<FullPut>;
  const ConnectionCount connections(context);
  count_puts_on_gpu(context, bench, dc_cost_puts(row.transport).count, dc.job(bench, row.new_destination),
                    {.recipe = gda::recipe_for<RcPut>(), .segments = segments}, record);
  connections.add(row, record.counts.operations, record);
}

}  // namespace

void dc_cost_on_gpu(Context& context, const Point& point, measure::Record& record) {
  const auto row = dc_row(point);
  GpuBench bench(context, {.queue = {.sq_wqebbs = kDcSqWqebbs}});
  report_path(context, bench, /*lanes=*/1);
  if (row.transport == Transport::kRc) {
    run_rc(context, bench, record);
  } else {
    run_dc(context, bench, row, record);
  }
  record.verified = true;
}

}  // namespace marrow::experiments
