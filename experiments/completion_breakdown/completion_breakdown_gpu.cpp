// SPDX-License-Identifier: Apache-2.0
// The host's part of completion-breakdown on a GPU.
#include "experiments/completion_breakdown/completion_breakdown_gpu.h"

#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/single_op/single_op_kernels.h"
#include "experiments/single_op/single_op_policies.h"

namespace marrow::experiments {
namespace {

SingleOpRow row_of(const Point& point) {
  if (point.policy == SingleOpUnordered::name) return SingleOpRow::kUnordered;
  return point.text("payload") == "pointer" ? SingleOpRow::kPointer : SingleOpRow::kInline;
}

/// Between two stamps of the straight line: its posting has returned, its poll has seen the CQE. No fence behind it.
void add_bare_poll(const Context& context, GpuBench& bench, const gpu::Kernel<PutJob>& floor, measure::Record& record) {
  auto job = put_job(bench, kSingleOpBytes);
  job.warmup = context.warmup;
  job.operations = context.iterations;
  const auto times = timed_on_gpu(context, floor, job);
  measure::Samples waits(times.issue.size());
  for (std::size_t i = 0; i < times.issue.size(); ++i) {
    waits.add(times.completion.values()[i] - times.issue.values()[i]);
  }
  add_time(record, "doorbell to CQE, bare poll", context.nic_kind, waits);
}

}  // namespace

void completion_breakdown_on_gpu(Context& context, const Point& point, measure::Record& record) {
  const auto row = row_of(point);
  const auto ordering = row == SingleOpRow::kUnordered ? SingleOpUnordered::ordering : SingleOpInline::ordering;
  auto kernels = single_op_puts(row);
  const auto floor = kernels.floor;
  kernels.floor = {};  // of the issue alone: single-op has it
  GpuBench bench(context);
  report_path(context, bench, /*lanes=*/1);
  measure_puts_on_gpu(context, bench, kernels, kSingleOpBytes, {.recipe = gda::recipe_of(ordering)}, record);
  add_bare_poll(context, bench, floor, record);
  record.verified = true;
}

}  // namespace marrow::experiments
