// SPDX-License-Identifier: Apache-2.0
// Rows: mini-gda with inline payload, by pointer, and without ordering (a control that promises nothing); libmlx5's
// ibv_post_send on the same device. Definitions of the metrics: docs/measuring.md.
#include "experiments/single_op/single_op.h"

#include "experiments/common/bench.h"
#include "experiments/common/gda_puts.h"
#include "experiments/common/stages.h"
#include "experiments/common/trace_put.h"
#include "experiments/common/verbs_poster.h"
#include "experiments/single_op/single_op_policies.h"
#include "util/error.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/single_op/single_op_gpu.h"
#endif

namespace marrow::experiments {
namespace {

using measure::Record;

/// Round trips with a second lane that answers at the far end.
template <class Near, class Far, class Queue>
void measure_round_trip(const Context& context, Near& near, Far& far, const Bench<Queue>& bench, Record& record) {
  measure::Samples samples(context.iterations);
  const std::uint64_t operations = std::uint64_t{context.warmup} + context.iterations;
  Replier<Far> replier(
      far, {.box = bench.far_box(), .operations = operations, .crowded = is_crowded(context, kRoundTripLanes)});
  round_trips(context, near, bench.near_box(), [&](std::uint64_t, double ns) { samples.add(ns); });
  replier.finish();
  add_time(record, "round trip", context.nic_kind, samples);
}

template <gda::PolicyType P>
void run_gda(const Context& context, Record& record) {
  Bench<verbs::DevxQp> bench(context, {});
  report_path(context, bench, kRoundTripLanes);
  measure_gda_puts<P>(context, bench, kSingleOpBytes, record);
  {
    GdaPoster<P> near(bench.a().queue.handle(), bench.request_route());
    GdaPoster<P> far(bench.b().queue.handle(), bench.reply_route());
    measure_round_trip(context, near, far, bench, record);
  }
  measure_stages<P>(context, bench, kSingleOpBytes, record);
}

void run_verbs(const Context& context, Record& record) {
  Bench<verbs::VerbsQp> bench(context, {});
  report_path(context, bench, kRoundTripLanes);
  {
    VerbsPoster near(bench.a().queue, bench.put_route(kSingleOpBytes), gda::Payload::kInline);
    measure_puts(context, near, bench.payload(kSingleOpBytes), record);
  }
  VerbsPoster near(bench.a().queue, bench.request_route(), gda::Payload::kInline);
  VerbsPoster far(bench.b().queue, bench.reply_route(), gda::Payload::kInline);
  measure_round_trip(context, near, far, bench, record);
}

void run_single_op(Context& context, const Point& point, Record& record) {
  if (point.path == "verbs") {
    run_verbs(context, record);
  } else if (point.policy == SingleOpUnordered::name) {
    run_gda<SingleOpUnordered>(context, record);
  } else if (point.text("payload") == "pointer") {
    run_gda<SingleOpPointer>(context, record);
  } else {
    run_gda<SingleOpInline>(context, record);
  }
  record.verified = true;
}

std::vector<TraceLine> trace_single_op(Context& context, const Point& point) {
  if (point.path == "verbs") throw util::Error("libmlx5 does not tell what it stores; trace a mini-gda row");
  if (point.policy == SingleOpUnordered::name) return trace_put<SingleOpUnordered>(context, kSingleOpBytes);
  if (point.text("payload") == "pointer") return trace_put<SingleOpPointer>(context, kSingleOpBytes);
  return trace_put<SingleOpInline>(context, kSingleOpBytes);
}

}  // namespace

Experiment single_op() {
  const auto row = [](std::string path, std::string policy, std::string payload) {
    return Variant{
        std::move(path), std::move(policy), {{"payload", std::move(payload)}, {"bytes", std::int64_t{kSingleOpBytes}}}};
  };
  return {.name = "single-op",
          .title = "Table 3, one 8 B operation",
          .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; gpu lanes: a GPU of sm_90 or newer",
          .variants = {row("mini-gda", "gpu-fence", "inline"), row("mini-gda", "gpu-fence", "pointer"),
                       row("mini-gda", "none", "inline"), row("verbs", "libmlx5", "inline")},
          .run = run_single_op,
#ifdef MARROW_HAS_CUDA
          .run_on_gpu = single_op_on_gpu,
#endif
          .trace = trace_single_op};
}

}  // namespace marrow::experiments
