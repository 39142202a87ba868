// SPDX-License-Identifier: Apache-2.0
// Useful work on a GPU: its memory, single launches of caller kernels and their times. With CUDA only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/enclosing_kernel/job.h"
#include "experiments/experiment.h"
#include "gpu/memory.h"

namespace marrow::experiments::enclosing {

/// What is compared with what: kernels of one shape do the same work.
struct Shape {
  std::string caller;
  std::uint32_t live = 8;
  unsigned blocks = 528;
};

class CallerBench {
 public:
  CallerBench(Context& context, const Shape& shape);

  /// Useful work alone; a transport adds its own.
  [[nodiscard]] const Job& job() const { return job_; }
  [[nodiscard]] gpu::Grid grid(std::size_t shared_bytes = 0) const {
    return {.blocks = shape_.blocks, .threads = kThreads, .shared_bytes = shared_bytes};
  }
  /// From the first block's begin to the last block's end, in nanoseconds. \throws util::Error.
  double launch(const gpu::Kernel<Job>& kernel, const Job& job, std::size_t shared_bytes = 0);
  /// What the last launch computed. Two kernels of one shape must agree in every bit.
  [[nodiscard]] std::vector<float> result() const { return result_.read(); }
  /// Of the last launch: which block ended with a failure, in words; empty when none did.
  [[nodiscard]] std::string failure() const;

  [[nodiscard]] gpu::Device& device() const { return *context_.gpu; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] gpu::Patience patience() const { return {.limit = context_.limit, .stop = context_.stop}; }

 private:
  Context& context_;
  Shape shape_;
  gpu::Array<float> coefficients_;
  gpu::Array<float> result_;
  gpu::Array<BlockTimes> times_;
  gpu::Array<std::uint32_t> failures_;
  std::unique_ptr<verbs::Memory> stream_;
  Job job_;
};

}  // namespace marrow::experiments::enclosing
