// SPDX-License-Identifier: Apache-2.0
// From the doorbell store to the CQE, beside the rest of one put: by mini-gda's own stage probe and, on GPU lanes, by
// a straight line of code that polls and does nothing else. Rows and kernels are those of single-op.
#include "experiments/completion_breakdown/completion_breakdown.h"

#include "experiments/common/bench.h"
#include "experiments/common/gda_puts.h"
#include "experiments/common/stages.h"
#include "experiments/single_op/single_op_policies.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/completion_breakdown/completion_breakdown_gpu.h"
#endif

namespace marrow::experiments {
namespace {

template <gda::PolicyType P>
void measure_breakdown(const Context& context, measure::Record& record) {
  Bench<verbs::DevxQp> bench(context, {});
  report_path(context, bench, /*lanes=*/1);
  measure_gda_puts<P>(context, bench, kSingleOpBytes, record);
  measure_stages<P>(context, bench, kSingleOpBytes, record);
}

void run_completion_breakdown(Context& context, const Point& point, measure::Record& record) {
  if (point.policy == SingleOpUnordered::name) {
    measure_breakdown<SingleOpUnordered>(context, record);
  } else if (point.text("payload") == "pointer") {
    measure_breakdown<SingleOpPointer>(context, record);
  } else {
    measure_breakdown<SingleOpInline>(context, record);
  }
  record.verified = true;
}

}  // namespace

Experiment completion_breakdown() {
  const auto row = [](std::string_view policy, std::string payload) {
    return Variant{
        "mini-gda", std::string(policy), {{"payload", std::move(payload)}, {"bytes", std::int64_t{kSingleOpBytes}}}};
  };
  return {
      .name = "completion-breakdown",
      .title = "Section 4.1, from doorbell to CQE",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; gpu lanes: a GPU of sm_90 or newer",
      .variants = {row(SingleOpInline::name, "inline"), row(SingleOpPointer::name, "pointer"),
                   row(SingleOpUnordered::name, "inline")},
      .run = run_completion_breakdown,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = completion_breakdown_on_gpu,
#endif
  };
}

}  // namespace marrow::experiments
