// SPDX-License-Identifier: Apache-2.0
// The measurements that most experiments share, on GPU lanes: what gda_puts.h and stages.h are for host lanes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/common/gpu/gpu_bench.h"
#include "experiments/common/gpu/put_kernels.h"
#include "experiments/common/host_clerk.h"
#include "gpu/launch.h"
#include "measure/record.h"

namespace marrow::experiments {

/// Runs kernels of one context: with its time limit, and stopped when the run is.
class GpuRunner {
 public:
  explicit GpuRunner(const Context& context);

  /// One kernel's loop. \returns how it went. \throws util::Error with the queue's dump when a put failed or a byte was
  /// wrong.
  LaneReport run(const gpu::Kernel<PutJob>& kernel, PutJob job);
  /// The same for round trips; the report is the near lane's.
  LaneReport run(const gpu::Kernel<TripJob>& kernel, TripJob job);

 private:
  const Context& context_;
  gpu::StopWord stop_;
};

/// A job of puts over the bench's put route.
[[nodiscard]] PutJob put_job(GpuBench& bench, std::uint32_t bytes);
[[nodiscard]] TripJob trip_job(const GpuBench& bench);

/// What one put must have cost by the policy's recipe.
struct PutPromise {
  gda::Recipe recipe{};
  std::uint32_t segments = 3;            // of 16 bytes
  std::optional<gda::Counts> each = {};  // instead, where more than the ordering decides
};

/// The times of one kernel's puts, warm-up excluded.
[[nodiscard]] PutTimes timed_on_gpu(const Context& context, const gpu::Kernel<PutJob>& kernel, const PutJob& job);

/// Up to 1000 of the job's puts with a counting probe, and the expectation that they cost what was promised.
void count_puts_on_gpu(const Context& context, GpuBench& bench, const gpu::Kernel<PutJob>& kernel, PutJob job,
                       const PutPromise& promise, measure::Record& record);

/// Adds "issue", "put+completion" and, where the row has the kernels, "issue floor", the counts and the stages.
void measure_puts_on_gpu(const Context& context, GpuBench& bench, const PutKernels& kernels, std::uint32_t bytes,
                         const PutPromise& promise, measure::Record& record);
/// The same where the job is not put_job()'s: `job` without numbers of operations.
void measure_puts_on_gpu(const Context& context, GpuBench& bench, const PutKernels& kernels, PutJob job,
                         const PutPromise& promise, measure::Record& record);

/// Times of round trips by the near lane's two clocks, warm-up excluded.
struct TripTimes {
  std::vector<double> by_ticks_ns;  // clock64
  std::vector<double> by_globaltimer_ns;
};
/// \param delay_ns  of the far lane, before every second answer.
[[nodiscard]] TripTimes trips_on_gpu(const Context& context, GpuBench& bench, const gpu::Kernel<TripJob>& kernel,
                                     std::uint64_t delay_ns = 0);

}  // namespace marrow::experiments
