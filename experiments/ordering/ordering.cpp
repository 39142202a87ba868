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

constexpr std::uint32_t kBytes = 8;

void run(Context& context, const Point& point, measure::Record& record) {
  Bench<verbs::DevxQp> bench(context, {});
  report_path(context, bench, /*lanes=*/1);
  const bool known = gda::OrderingPolicies::visit(
      point.policy, [&]<gda::PolicyType P>() { measure_gda_puts<P>(context, bench, kBytes, record); });
  if (!known) throw util::Error("no ordering is called '" + point.policy + "'");
  record.verified = true;
}

std::vector<TraceLine> trace(Context& context, const Point& point) {
  std::vector<TraceLine> lines;
  gda::OrderingPolicies::visit(point.policy, [&]<gda::PolicyType P>() { lines = trace_put<P>(context, kBytes); });
  return lines;
}

}  // namespace

Experiment ordering() {
  Experiment experiment{
      .name = "ordering",
      .title = "Table 4, ordering before the doorbell",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; gpu lanes: a GPU of sm_90 or newer",
      .run = run,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = ordering_on_gpu,
#endif
      .trace = trace};
  gda::OrderingPolicies::for_each([&]<gda::PolicyType P>() {
    experiment.variants.push_back(
        {"mini-gda", std::string(P::name), {{"payload", std::string("inline")}, {"bytes", std::int64_t{kBytes}}}});
  });
  return experiment;
}

}  // namespace marrow::experiments
