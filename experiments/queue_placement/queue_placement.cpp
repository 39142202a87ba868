// SPDX-License-Identifier: Apache-2.0
// Rows: each of SQ, CQ and dbrec in host memory alone, all of them, and none, under one ordering that reaches all;
// beside them what is enough in GPU memory. A host lane has the rows with everything in host memory.
#include "experiments/queue_placement/queue_placement.h"

#include "experiments/common/bench.h"
#include "experiments/common/gda_puts.h"
#include "experiments/queue_placement/queue_placement_policies.h"
#include "util/error.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/queue_placement/queue_placement_gpu.h"
#endif

namespace marrow::experiments {
namespace {

template <gda::PolicyType P>
void measure_placement(const Context& context, measure::Record& record) {
  Bench<verbs::DevxQp> bench(context, {});
  report_path(context, bench, /*lanes=*/1);
  measure_gda_puts<P>(context, bench, kPlacementBytes, record);
}

void run_queue_placement(Context& context, const Point& point, measure::Record& record) {
  if (point.text("host_memory") != "all") {
    throw util::Error("a host lane cannot post to queues in GPU memory", util::ErrorKind::kWaived,
                      "--lane gpu for this row");
  }
  if (point.policy == PlacedSystemFence::name) {
    measure_placement<PlacedSystemFence>(context, record);
  } else {
    measure_placement<PlacedSystemRelease>(context, record);
  }
  record.verified = true;
}

}  // namespace

Experiment queue_placement() {
  const auto row = [](std::string_view policy, std::string host) {
    return Variant{"mini-gda", std::string(policy), {{"host_memory", std::move(host)}}};
  };
  constexpr auto kFence = PlacedSystemFence::name;
  constexpr auto kRelease = PlacedSystemRelease::name;
  return {
      .name = "queue-placement",
      .title = "Section 4.1, where the queues lie",
      .needs =
          "two endpoints: cx7-sim, or one or two mlx5 devices; gpu lanes: a GPU of sm_90 or newer, and with "
          "cx7-sim --engine gpu for the rows with all in host memory",
      .variants = {row(PlacedGpuFence::name, "none"), row(kFence, "none"), row(kFence, "SQ"), row(kFence, "CQ"),
                   row(kFence, "dbrec"), row(kFence, "all"), row(kRelease, "none"), row(kRelease, "all")},
      .run = run_queue_placement,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = queue_placement_on_gpu,
#endif
  };
}

}  // namespace marrow::experiments
