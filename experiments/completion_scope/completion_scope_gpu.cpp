// SPDX-License-Identifier: Apache-2.0
// The host's part of completion-scope on a GPU: one thread posts and waits, however many queues there are.
#include "experiments/completion_scope/completion_scope_gpu.h"

#include "experiments/common/gpu/gpu_bundle.h"
#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/completion_scope/completion_scope_kernels.h"
#include "experiments/completion_scope/completion_scope_policies.h"

namespace marrow::experiments {

void completion_scope_on_gpu(Context& context, const Point& point, measure::Record& record) {
  GpuBundle bundle(context, {.queues = static_cast<std::uint32_t>(point.number("queues"))});
  report_path(context, bundle, "1 thread");
  const auto& ends = bundle.ends();
  const PutJob job{.qp = bundle.first(),
                   .set = bundle.set(),
                   .route = {.from = ends.a().mr.local(), .to = ends.b().mr.remote(), .bytes = kScopeBytes},
                   .far = ends.b().memory->data(),
                   .warmup = context.warmup,
                   .operations = context.iterations};
  const auto times = timed_on_gpu(context, completion_scope_kernel(point.text("sharing"), point.text("scope")), job);
  record.counts.operations = times.issue.size();
  add_time(record, "issue", measure::Kind::kGpu, times.issue);
  add_time(record, "put+completion", context.nic_kind, times.completion);
  record.verified = true;
}

}  // namespace marrow::experiments
