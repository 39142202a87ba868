// SPDX-License-Identifier: Apache-2.0
// The host's part of ordering on a GPU.
#include "experiments/ordering/ordering_gpu.h"

#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/ordering/ordering_kernels.h"
#include "util/error.h"

namespace marrow::experiments {

void ordering_on_gpu(Context& context, const Point& point, measure::Record& record) {
  PutPromise promise;
  const bool known =
      gda::OrderingPolicies::visit(point.policy, [&]<gda::PolicyType P>() { promise.recipe = gda::recipe_for<P>(); });
  if (!known) throw util::Error("no ordering is called '" + point.policy + "'");
  GpuBench bench(context);
  report_path(context, bench, /*lanes=*/1);
  const auto bytes = static_cast<std::uint32_t>(point.number("bytes"));
  measure_puts_on_gpu(context, bench, ordering_puts(point.policy), bytes, promise, record);
  record.verified = true;
}

}  // namespace marrow::experiments
