// SPDX-License-Identifier: Apache-2.0
// See gpu_bundle.h.
#include "experiments/common/gpu/gpu_bundle.h"

#include <fmt/format.h>

namespace marrow::experiments {

GpuBundle::GpuBundle(const Context& context, const BundleOptions& options, const gda::Placement& placement)
    : device_(context.gpu.get()),
      bundle_(context, {options.queues, options.buffer_bytes, options.far, patient(options.queue)},
              memory_for(context, {.placement = placement})),
      qps_(*device_, options.queues) {
  doorbells_.reserve(options.queues);
  for (const auto& queue : bundle_.a().queues) doorbells_.emplace_back(*device_, queue.handle().doorbell);
  qps_.write(on_lanes());
}

std::vector<gda::Qp> GpuBundle::on_lanes() const {
  std::vector<gda::Qp> qps;
  for (std::size_t i = 0; i < doorbells_.size(); ++i) qps.push_back(on_gpu(bundle_.a().queues[i], doorbells_[i]));
  return qps;
}

void report_path(const Context& context, const GpuBundle& bundle, const std::string& lanes) {
  if (!context.report_path) return;
  auto path = active_path(context, bundle.ends());
  path.doorbell = bundle.doorbell().describe();
  path.lane = fmt::format("gpu: {}, on GPU {}", lanes, bundle.device().index());
  path.clock = bundle.device().describe_clocks();
  path.gpu = bundle.device().describe();
  context.report_path(path);
}

}  // namespace marrow::experiments
