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
void run_row(const Context& context, measure::Record& record) {
  Bench<verbs::DevxQp> bench(context, {});
  report_path(context, bench, /*lanes=*/1);
  measure_gda_puts<P>(context, bench, kSingleOpBytes, record);
  measure_stages<P>(context, bench, kSingleOpBytes, record);
}

void run(Context& context, const Point& point, measure::Record& record) {
  if (point.policy == SingleOpUnordered::name) {
    run_row<SingleOpUnordered>(context, record);
  } else if (point.text("payload") == "pointer") {
    run_row<SingleOpPointer>(context, record);
  } else {
    run_row<SingleOpInline>(context, record);
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
      .run = run,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = completion_breakdown_on_gpu,
#endif
  };
}

}  // namespace marrow::experiments
