// SPDX-License-Identifier: Apache-2.0
// One put to the first of several queues, then a wait: for its ticket, for that queue, or for every queue. Only the
// first queue is ever used, so what grows with their number is what looking at idle queues costs.
#include "experiments/completion_scope/completion_scope.h"

#include "experiments/common/bundle.h"
#include "experiments/common/host_clerk.h"
#include "experiments/completion_scope/completion_scope_policies.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/completion_scope/completion_scope_gpu.h"
#endif

namespace marrow::experiments {
namespace {

template <Poster P>
void measure(const Context& context, const Bundle& bundle, P poster, measure::Record& record) {
  StampedPayload payload({bundle.a().memory->data(), kScopeBytes}, {bundle.b().memory->data(), kScopeBytes});
  (void)put_untimed(context, poster, payload, context.warmup);
  PutTimes times(context.iterations);
  put_timed(context, poster, payload, times);
  record.counts.operations = times.issue.size();
  add_time(record, "issue", measure::Kind::kHostLane, times.issue);
  add_time(record, "put+completion", context.nic_kind, times.completion);
}

template <gda::PolicyType P>
void run_scope(const Context& context, const Point& point, const Bundle& bundle, measure::Record& record) {
  const Route route{.from = bundle.a().mr.local(), .to = bundle.b().mr.remote(), .bytes = kScopeBytes};
  std::vector<gda::Qp> qps;
  for (const auto& queue : bundle.a().queues) qps.push_back(queue.handle());
  const gda::QueueSet set{qps.data(), static_cast<std::uint32_t>(qps.size())};
  const auto& scope = point.text("scope");
  if (scope == "ticket") {
    measure<TicketPoster<P>>(context, bundle, TicketPoster<P>(qps.front(), route), record);
  } else if (scope == "used queue") {
    measure<QuietPoster<P>>(context, bundle, QuietPoster<P>(set, route), record);
  } else {
    measure<QuietPoster<gda::QuietAll<P>>>(context, bundle, QuietPoster<gda::QuietAll<P>>(set, route), record);
  }
}

void run_completion_scope(Context& context, const Point& point, measure::Record& record) {
  const Bundle bundle(context, {.queues = static_cast<std::uint32_t>(point.number("queues"))},
                      memory_of_host_lanes(context));
  report_path(context, bundle);
  if (point.text("sharing") == "none") {
    run_scope<ScopeOwn>(context, point, bundle, record);
  } else {
    run_scope<ScopeShared>(context, point, bundle, record);
  }
  record.verified = true;
}

}  // namespace

Experiment completion_scope() {
  std::vector<Variant> variants;
  for (const auto* sharing : {"slots", "none"}) {
    for (const auto* scope : {"all queues", "used queue", "ticket"}) {
      variants.push_back({"mini-gda",
                          std::string(gda::GpuFence::name),
                          {{"scope", std::string(scope)}, {"sharing", std::string(sharing)}}});
    }
  }
  return {
      .name = "completion-scope",
      .title = "Figure 4, what a wait waits for",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; gpu lanes: a GPU of sm_90 or newer",
      .variants = std::move(variants),
      .sweeps = {{.name = "queues",
                  .meaning = "queues that are configured; one is used",
                  .values = {1, 2, 4, 8, 16, 32},
                  .min = 1,
                  .max = 256}},
      .iterations = 1000,
      .run = run_completion_scope,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = completion_scope_on_gpu,
#endif
  };
}

}  // namespace marrow::experiments
