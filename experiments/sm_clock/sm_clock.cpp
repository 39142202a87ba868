// SPDX-License-Identifier: Apache-2.0
// Rows of single-op at clocks that the GPU is locked to. Nothing is locked unless the user says so.
#include "experiments/sm_clock/sm_clock.h"

#include "experiments/single_op/single_op_policies.h"
#include "experiments/sm_clock/permission.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/sm_clock/sm_clock_gpu.h"
#endif

namespace marrow::experiments {
namespace {

void run_sm_clock(Context& context, const Point&, measure::Record&) {
  require_permission(context);
  throw util::Error("a CPU thread has no SM clock", util::ErrorKind::kWaived, kHowToLock);
}

}  // namespace

Experiment sm_clock() {
  const auto row = [](std::string_view policy, std::string payload) {
    return Variant{"mini-gda", std::string(policy), {{"payload", std::move(payload)}}};
  };
  return {.name = "sm-clock",
          .title = "Figure 5 and Table 6, against the SM clock",
          .needs =
              "two endpoints: cx7-sim, or one or two mlx5 devices; a GPU of sm_90 or newer whose clock this user may "
              "lock, and --lock-clocks",
          .variants = {row(SingleOpInline::name, "inline"), row(SingleOpPointer::name, "pointer"),
                       row(SingleOpUnordered::name, "inline")},
          .iterations = 5000,
          .locks_clocks = true,
          .run = run_sm_clock,
#ifdef MARROW_HAS_CUDA
          .run_on_gpu = sm_clock_on_gpu
#endif
  };
}

}  // namespace marrow::experiments
