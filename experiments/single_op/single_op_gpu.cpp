// SPDX-License-Identifier: Apache-2.0
// The host's part of single-op on a GPU: one thread posts, for the round trip a second one in another CTA answers.
#include "experiments/single_op/single_op_gpu.h"

#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/common/round_trip.h"
#include "experiments/single_op/single_op_kernels.h"
#include "experiments/single_op/single_op_policies.h"
#include "util/error.h"

namespace marrow::experiments {

SingleOpRow single_op_row(const Point& point) {
  if (point.policy == SingleOpUnordered::name) return SingleOpRow::kUnordered;
  return point.text("payload") == "pointer" ? SingleOpRow::kPointer : SingleOpRow::kInline;
}

void single_op_on_gpu(Context& context, const Point& point, measure::Record& record) {
  if (point.path == "verbs") {
    throw util::Error("libmlx5 posts from a CPU", util::ErrorKind::kWaived, "--lane host for this row");
  }
  const auto row = single_op_row(point);
  const auto ordering = row == SingleOpRow::kUnordered ? SingleOpUnordered::ordering : SingleOpInline::ordering;
  GpuBench bench(context);
  report_path(context, bench, kRoundTripLanes);
  measure_puts_on_gpu(context, bench, single_op_puts(row), kSingleOpBytes, {.recipe = gda::recipe_of(ordering)},
                      record);
  const auto trips = trips_on_gpu(context, bench, single_op_round_trips(row)).by_ticks_ns;
  add_time(record, "round trip", context.nic_kind, trips);
  record.verified = true;
}

}  // namespace marrow::experiments
