// SPDX-License-Identifier: Apache-2.0
// The GPU's verdict on a repetition: the value of every WQE whose place no later one took, and each queue's count.
#include "experiments/common/gpu/clerks.cuh"
#include "experiments/gpu_rate/rate_lanes.cuh"

namespace marrow::experiments {
namespace {

__device__ void check_count(const RateCheckJob& job, const gda::Qp& qp) {
  const auto posted = job.shared ? qp.counters->shared.ready : qp.counters->pi;
  if (posted == job.end) return;
  if (OfGpu<std::uint32_t>(job.report->wrong_queues).fetch_add(1) == 0) job.report->posted = posted;
}

/// An acknowledged put may still be on its way to memory.
__device__ void check_place(const RateCheckJob& job, std::uint64_t place, gda::SpinLimit& limit) {
  const auto behind = (job.end - 1 - place) & (kRateWqebbs - 1);
  if (behind >= job.end) return;  // never written
  const auto index = job.end - 1 - behind;
  const auto* at = reinterpret_cast<const std::uint64_t*>(job.far + blockIdx.x * kRateFarBytes) + place;
  const auto expected = stamp_word(index, blockIdx.x);
  auto seen = poll(at);
  while (seen != expected && !limit.expired()) seen = poll(at);
  if (seen == expected) return;
  if (OfGpu<std::uint32_t>(job.report->wrong_places).fetch_add(1) != 0) return;
  job.report->index = index;
  job.report->seen = seen;
  job.report->expected = expected;
}

__global__ void check_kernel(RateCheckJob job) {
  constexpr std::uint64_t kLimitNs = 1'000'000'000;
  gda::SpinLimit limit(kLimitNs);
  if (threadIdx.x == 0) check_count(job, job.set.qps[blockIdx.x]);
  for (std::uint32_t place = threadIdx.x; place < kRateWqebbs; place += blockDim.x) check_place(job, place, limit);
}

}  // namespace

gpu::Kernel<RateCheckJob> rate_check_kernel() {
  return gpu::kernel_of(&check_kernel, "gpu-rate check");
}

}  // namespace marrow::experiments
