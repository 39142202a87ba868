// SPDX-License-Identifier: Apache-2.0
// A Bundle whose queues and payload lie in memory of the lanes' GPU, with every doorbell mapped to it.
#pragma once

#include <string>
#include <vector>

#include "experiments/common/bundle.h"
#include "experiments/common/gpu/gpu_bench.h"
#include "gpu/memory.h"
#include "marrow/gda/queue_set.h"

namespace marrow::experiments {

class GpuBundle {
 public:
  GpuBundle(const Context& context, const BundleOptions& options, const gda::Placement& placement = {});

  [[nodiscard]] gpu::Device& device() const { return *device_; }
  [[nodiscard]] const Bundle& ends() const { return bundle_; }
  /// The near end's queues, as kernels take them.
  [[nodiscard]] gda::QueueSet set() const {
    return {qps_.data(), static_cast<std::uint32_t>(qps_.size()), /*turn=*/nullptr};
  }
  [[nodiscard]] std::vector<gda::Qp> on_lanes() const;
  [[nodiscard]] gda::Qp first() const { return on_gpu(bundle_.a().queues.front(), doorbells_.front()); }
  [[nodiscard]] const gpu::Doorbell& doorbell() const { return doorbells_.front(); }

 private:
  gpu::Device* device_;
  Bundle bundle_;
  std::vector<gpu::Doorbell> doorbells_;
  gpu::Array<gda::Qp> qps_;
};

/// \param lanes  "256 threads in 1 CTA"
void report_path(const Context& context, const GpuBundle& bundle, const std::string& lanes);

}  // namespace marrow::experiments
