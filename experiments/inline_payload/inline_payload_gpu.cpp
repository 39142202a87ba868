// SPDX-License-Identifier: Apache-2.0
// The host's part of inline-payload on a GPU.
#include "experiments/inline_payload/inline_payload_gpu.h"

#include <algorithm>

#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/inline_payload/inline_payload_kernels.h"
#include "experiments/inline_payload/inline_payload_policies.h"

namespace marrow::experiments {
namespace {

void measure_rate(const Context& context, GpuBench& bench, PayloadRow row, std::uint32_t bytes,
                  measure::Record& record) {
  auto job = put_job(bench, bytes);
  job.warmup = context.warmup / kInlinePayloadBurst;
  job.operations = std::max(context.iterations / 8, 10U);
  const auto times = timed_on_gpu(context, inline_payload_bursts(row), job);
  add_rate(record, context.nic_kind, kInlinePayloadBurst, times.completion);
}

}  // namespace

void inline_payload_on_gpu(Context& context, const Point& point, measure::Record& record) {
  const auto row = point.text("payload") == "inline" ? PayloadRow::kInline : PayloadRow::kPointer;
  const auto bytes = static_cast<std::uint32_t>(point.number("bytes"));
  const std::uint32_t segments = 2 + (row == PayloadRow::kInline ? wire::inline_ds(bytes) : 1);
  GpuBench bench(context, {.queue = {.sq_wqebbs = kInlinePayloadSqWqebbs}});
  report_path(context, bench, /*lanes=*/1);
  measure_puts_on_gpu(context, bench, inline_payload_puts(row), bytes,
                      {.recipe = gda::recipe_for<InlinePut>(), .segments = segments}, record);
  measure_rate(context, bench, row, bytes, record);
  record.verified = true;
}

}  // namespace marrow::experiments
