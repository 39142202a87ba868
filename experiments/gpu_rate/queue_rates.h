// SPDX-License-Identifier: Apache-2.0
// Rates of GPU lanes over queues that an experiment has prepared in its own way: repetitions of one kernel, each
// followed by the GPU's check of the far side. What rate_loop.h says of a repetition holds here.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/common/gpu/gpu_bundle.h"
#include "experiments/gpu_rate/rate_kernels.h"
#include "gpu/launch.h"
#include "gpu/memory.h"

namespace marrow::experiments {

/// Of a GpuBundle for such rates.
[[nodiscard]] BundleOptions rate_bundle(std::uint32_t queues);

struct QueueRateSetup {
  gpu::Grid grid;
  std::uint32_t rounds = 0;           // reservations of each team
  std::uint32_t teams_per_queue = 1;  // team t posts to queue t / teams_per_queue
  std::uint32_t wqes_a_round = 1;     // of each team
  bool shared = false;                // queues that several teams use

  [[nodiscard]] std::uint64_t messages(std::uint32_t queues) const {
    return std::uint64_t{queues} * teams_per_queue * rounds * wqes_a_round;
  }
};

class QueueRates {
 public:
  /// \param lanes  the bundle's queues, as the kernels take them.
  QueueRates(const Context& context, const GpuBundle& bundle, const std::vector<gda::Qp>& lanes);

  /// Each repetition's rate in messages a nanosecond. \throws util::Error when a put failed or a value is wrong.
  std::vector<double> repeat(const gpu::Kernel<RateJob>& kernel, const QueueRateSetup& setup,
                             std::uint32_t repetitions);
  [[nodiscard]] std::uint64_t posted() const { return posted_; }

 private:
  double once(const gpu::Kernel<RateJob>& kernel, const QueueRateSetup& setup);
  void check(const QueueRateSetup& setup);
  [[nodiscard]] gda::QueueSet set() const {
    return {lanes_.data(), static_cast<std::uint32_t>(lanes_.size()), /*turn=*/nullptr};
  }

  const Context& context_;
  const GpuBundle& bundle_;
  gpu::Array<gda::Qp> lanes_;
  gpu::Array<RateReport> report_;
  gpu::Array<RateCheckReport> check_;
  std::uint64_t posted_ = 0;
};

}  // namespace marrow::experiments
