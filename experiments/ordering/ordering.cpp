// SPDX-License-Identifier: Apache-2.0
// One row for each recipe of gda/policy.h: the same 8 B inline put, with other fences and stores before the doorbell.
// On a host lane the counts are the result; the times are those of a CPU's fences, not a GPU's. GPU lanes:
// ordering_gpu.cpp.
#include "experiments/ordering/ordering.h"

#include "experiments/common/bench.h"
#include "experiments/common/gda_puts.h"
#include "experiments/common/trace_put.h"
#include "util/error.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/ordering/ordering_gpu.h"
#endif

namespace marrow::experiments {
namespace {

void run_ordering(Context& context, const Point& point, measure::Record& record) {
  Bench<verbs::DevxQp> bench(context, {});
  report_path(context, bench, /*lanes=*/1);
  const bool known = gda::OrderingPolicies::visit(
      point.policy, [&]<gda::PolicyType P>() { measure_gda_puts<P>(context, bench, kSmallBytes, record); });
  if (!known) throw util::Error("no ordering is called '" + point.policy + "'");
  record.verified = true;
}

std::vector<TraceLine> trace_ordering(Context& context, const Point& point) {
  std::vector<TraceLine> lines;
  gda::OrderingPolicies::visit(point.policy, [&]<gda::PolicyType P>() { lines = trace_put<P>(context, kSmallBytes); });
  return lines;
}

}  // namespace

Experiment ordering() {
  Experiment experiment{
      .name = "ordering",
      .title = "Table 4, ordering before the doorbell",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; gpu lanes: a GPU of sm_90 or newer",
      .run = run_ordering,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = ordering_on_gpu,
#endif
      .trace = trace_ordering};
  gda::OrderingPolicies::for_each([&]<gda::PolicyType P>() {
    experiment.variants.push_back(
        {"mini-gda", std::string(P::name), {{"payload", std::string("inline")}, {"bytes", std::int64_t{kSmallBytes}}}});
  });
  return experiment;
}

}  // namespace marrow::experiments
