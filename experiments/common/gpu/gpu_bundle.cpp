// SPDX-License-Identifier: Apache-2.0
// See gpu_bundle.h.
#include "experiments/common/gpu/gpu_bundle.h"

#include <fmt/format.h>

namespace marrow::experiments {

GpuBundle::GpuBundle(const Context& context, const BundleOptions& options)
    : device_(context.gpu.get()),
      bundle_(context, {options.queues, options.buffer_bytes, options.far, patient(options.queue)},
              memory_for(context, {})),
      qps_(*device_, options.queues) {
  std::vector<gda::Qp> qps;
  doorbells_.reserve(options.queues);
  for (const auto& queue : bundle_.a().queues) {
    doorbells_.emplace_back(*device_, queue.handle().doorbell);
    qps.push_back(on_gpu(queue, doorbells_.back()));
  }
  qps_.write(qps);
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
