// SPDX-License-Identifier: Apache-2.0
// From a point of one of the enclosing experiments to the comparison that it names. With CUDA only.
#include "experiments/enclosing_kernel/enclosing_kernel.h"
#include "experiments/enclosing_kernel/loss.h"

namespace marrow::experiments::enclosing {
namespace {

/// So much that two blocks fit on an SM of sm_90, and not three.
constexpr std::size_t kHalfAnSm = std::size_t{100} << 10U;

void run(Context& context, const Point& point, measure::Record& record) {
  const Shape shape{.caller = point.text("caller"),
                    .live = static_cast<std::uint32_t>(point.number("live_values")),
                    .blocks = static_cast<unsigned>(point.number("blocks"))};
  const auto arm = arm_named(point.text("arm"));
  Comparison comparison{.shape = shape, .path = point.path, .packaging = point.policy, .arm = arm};
  if (arm != Arm::kDormant) comparison.messages = static_cast<std::uint32_t>(point.number("messages"));
  if (point.path == "none") comparison.shared_bytes = kHalfAnSm;
  measure_loss(context, comparison, record);
}

}  // namespace

std::function<void(Context&, const Point&, measure::Record&)> on_gpu() {
  return run;
}

}  // namespace marrow::experiments::enclosing
