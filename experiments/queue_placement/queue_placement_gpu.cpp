// SPDX-License-Identifier: Apache-2.0
// The host's part of queue-placement on a GPU. The payload stays in GPU memory in every row.
#include "experiments/queue_placement/queue_placement_gpu.h"

#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/queue_placement/queue_placement_kernels.h"
#include "experiments/queue_placement/queue_placement_policies.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

gda::Placement placement_of(const Point& point) {
  const auto where = [&](std::string_view part) {
    const auto& host = point.text("host_memory");
    return host == "all" || host == part ? gda::Mem::kHost : gda::Mem::kGpu;
  };
  return {where("SQ"), where("CQ"), where("dbrec")};
}

gda::Ordering ordering_of(const Point& point) {
  if (point.policy == PlacedGpuFence::name) return PlacedGpuFence::ordering;
  return point.policy == PlacedSystemFence::name ? PlacedSystemFence::ordering : PlacedSystemRelease::ordering;
}

/// The CPU engine, which `auto` takes for queues in host memory, does not reach the payload.
void require_engine(const Context& context, const gda::Placement& placement) {
  const bool all_on_host = !placement.uses(gda::Mem::kGpu);
  if (!all_on_host || context.nic_kind != measure::Kind::kCx7Sim || context.engine.starts_with("gpu")) return;
  throw util::Error(
      "with all queues in host memory the software NIC's CPU engine would serve them, and the payload is "
      "in GPU memory",
      util::ErrorKind::kWaived, "--engine gpu for this row");
}

}  // namespace

void queue_placement_on_gpu(Context& context, const Point& point, measure::Record& record) {
  const auto placement = placement_of(point);
  require_engine(context, placement);
  GpuBench bench(context, {.placement = placement});
  report_path(context, bench, /*lanes=*/1);
  measure_puts_on_gpu(context, bench, queue_placement_puts(point.policy), kPlacementBytes,
                      {.recipe = gda::recipe_of(ordering_of(point))}, record);
  record.verified = true;
}

}  // namespace marrow::experiments
