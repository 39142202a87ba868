// SPDX-License-Identifier: Apache-2.0
// Two connected ends whose queues and payload lie where a GPU lane wants them, with the doorbells mapped to the GPU.
#pragma once

#include <string>

#include "experiments/common/bench.h"
#include "gpu/doorbell.h"
#include "marrow/gda/policy.h"

namespace marrow::experiments {

struct GpuBenchOptions {
  verbs::DevxQpOptions queue = {};  // its memory is chosen by `placement`
  gda::Placement placement = {};    // Mem::kLane is the GPU's
  gda::Mem payload = gda::Mem::kLane;
  std::size_t payload_bytes = verbs::Memory::kAlign;
  gpu::DoorbellKind first_doorbell = gpu::DoorbellKind::kIoMemory;
};

/// Where the parts then lie, for lanes on Context::gpu. \throws util::Error where the software NIC's engine cannot
/// reach a part.
[[nodiscard]] BenchMemory memory_for(const Context& context, const GpuBenchOptions& options);
/// The same queue with the time limit of GPU lanes.
[[nodiscard]] verbs::DevxQpOptions patient(verbs::DevxQpOptions options);
/// The queue as kernels take it.
[[nodiscard]] gda::Qp on_gpu(const verbs::DevxQp& queue, const gpu::Doorbell& doorbell);

/// Both ends' lanes run on Context::gpu. \throws util::Error also where the software NIC's engine cannot reach a part.
class GpuBench : public Bench<verbs::DevxQp> {
 public:
  explicit GpuBench(const Context& context, const GpuBenchOptions& options = {});

  [[nodiscard]] gpu::Device& device() const { return *device_; }
  /// The queues as kernels take them.
  [[nodiscard]] gda::Qp qp_a() const { return on_gpu(a().queue, doorbell_a_); }
  [[nodiscard]] gda::Qp qp_b() const { return on_gpu(b().queue, doorbell_b_); }
  [[nodiscard]] const gpu::Doorbell& doorbell() const { return doorbell_a_; }

 private:
  gpu::Device* device_;
  gpu::Doorbell doorbell_a_;
  gpu::Doorbell doorbell_b_;
};

/// Reports the path of a bench of GPU lanes, with `lanes` threads that post or poll.
void report_path(const Context& context, const GpuBench& bench, unsigned lanes);

}  // namespace marrow::experiments
