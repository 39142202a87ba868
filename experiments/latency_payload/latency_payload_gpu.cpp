// SPDX-License-Identifier: Apache-2.0
// The host's part of latency-payload on a GPU. One thread stamps and compares, word by word, so that long payloads have
// fewer samples.
#include "experiments/latency_payload/latency_payload_gpu.h"

#include <algorithm>

#include "experiments/common/load/gpu/ring_puts.h"
#include "experiments/single_op/single_op_kernels.h"

namespace marrow::experiments {
namespace {

PutTimes times_of_gda(const Context& context, std::uint32_t bytes) {
  GpuBench bench(context, {.payload_bytes = kDestinationAt + std::size_t{bytes}});
  report_path(context, bench, 1);
  auto job = put_job(bench, bytes);
  job.warmup = context.warmup;
  job.operations = context.iterations;
  return timed_on_gpu(context, single_op_puts(SingleOpRow::kPointer).time, job);
}

PutTimes times_of_proxy(const Context& context, std::uint32_t bytes) {
  auto proxy = idle_proxy_on_gpu<proxy::Tuned>(context, bytes, false);
  if (context.report_path) context.report_path(proxy.path(context));
  return ring_puts_on_gpu(context, tuned_kernels().put, proxy.probe(End::kNear, Probing::kReserved),
                          proxy.ends().cargo(End::kNear, 0));
}

}  // namespace

void latency_payload_on_gpu(Context& context, const Point& point, measure::Record& record) {
  constexpr std::uint32_t kComparedBytes = 4 << 20;
  constexpr std::uint32_t kLeast = 8;
  const auto bytes = static_cast<std::uint32_t>(point.number("bytes"));
  Context brief = context;
  brief.iterations = std::min(context.iterations, std::max(kLeast, kComparedBytes / bytes));
  brief.warmup = std::min(context.warmup, brief.iterations / 4);
  const bool is_gda = point.path == "mini-gda";
  const auto times = is_gda ? times_of_gda(brief, bytes) : times_of_proxy(brief, bytes);
  record.counts.operations = times.issue.size();
  add_time(record, is_gda ? "issue" : "enqueue", measure::Kind::kGpu, times.issue);
  add_time(record, "put+completion", context.nic_kind, times.completion);
  record.verified = true;
}

}  // namespace marrow::experiments
