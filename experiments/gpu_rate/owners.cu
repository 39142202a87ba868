// SPDX-License-Identifier: Apache-2.0
// Lanes, warps and CTAs with queues of their own.
#include <new>

#include "experiments/gpu_rate/rate_lanes.cuh"

namespace marrow::experiments {
namespace {

/// One thread, a queue after the other, one put each. The queues' indices stay in shared memory, as they cannot be in
/// registers.
template <gda::PolicyType P>
__device__ gda::Result put_in_turn(gda::SendQueue<P>* queues, const RateJob& job) {
  const gda::Solo team;
  const auto count = job.set.count;
  for (std::uint32_t round = 0; round < job.rounds; ++round) {
    const std::uint32_t at = round % count;
    auto& sq = queues[at];
    auto slots = sq.reserve(team, 1);
    if (round + count >= job.rounds) slots = slots.asking();
    write_stamped(sq, slots[0], rate_target(job, at));
    const auto ticket = sq.submit(team, slots);
    if (ticket.status != gda::Status::kOk) return {ticket.status};
  }
  gda::Result result;
  for (std::uint32_t i = 0; i < count && result.ok(); ++i) result = queues[i].drain(team);
  return result;
}

template <gda::PolicyType P>
__global__ void round_robin_kernel(RateJob job) {
  using Queue = gda::SendQueue<P>;
  constexpr std::uint32_t kMost = 32;
  __shared__ alignas(Queue) std::byte room[kMost * sizeof(Queue)];
  auto* const queues = reinterpret_cast<Queue*>(room);
  const auto begin_ns = gda::lane_clock_ns();
  for (std::uint32_t i = 0; i < job.set.count; ++i) new (&queues[i]) Queue(job.set.qps[i]);
  const auto result = put_in_turn<P>(queues, job);
  report_times(*job.report, begin_ns, gda::lane_clock_ns());
  for (std::uint32_t i = 0; i < job.set.count; ++i) queues[i].~Queue();
  report_failure<P>(*job.report, job.set.qps[0], result);
}

/// All CTAs have come here, or a second has passed.
__device__ void meet(std::uint32_t* arrived) {
  constexpr std::uint64_t kLimitNs = 1'000'000'000;
  __syncthreads();
  if (threadIdx.x == 0) {
    OfGpu<std::uint32_t> word(*arrived);
    word.fetch_add(1, cuda::memory_order_acq_rel);
    gda::SpinLimit limit(kLimitNs);
    while (word.load(cuda::memory_order_acquire) < gridDim.x && !limit.expired()) {
    }
  }
  __syncthreads();
}

/// Times what follows the doorbell alone: until then only the ring's last WQE asks for a CQE.
__global__ void burst_kernel(RateJob job) {
  const gda::Block team;
  const gda::Qp qp = job.set.qps[blockIdx.x];
  gda::Result result;
  std::uint64_t begin_ns = 0;
  {
    gda::SendQueue<gda::GpuFence> sq(qp);
    const auto slots = sq.reserve(team, kRateWqebbs);
    for (std::uint32_t i = team.rank(); i < kRateWqebbs; i += team.size()) {
      write_stamped(sq, slots[i], rate_target(job, blockIdx.x));
    }
    gda::emit_fence<gda::FenceKind::kGpu>();
    meet(job.arrived);
    begin_ns = gda::lane_clock_ns();
    result = sq.wait(team, sq.submit(team, slots));
  }
  const auto end_ns = gda::lane_clock_ns();
  if (team.rank() != 0) return;
  report_times(*job.report, begin_ns, end_ns);
  report_failure<gda::GpuFence>(*job.report, qp, result);
}

}  // namespace

gpu::Kernel<RateJob> rate_kernel_of_owners(const RateRow& row) {
  constexpr const char* kName = "gpu-rate, own queues";
  if (row.how == RateHow::kRoundRobin) return gpu::kernel_of(&round_robin_kernel<RateOwn>, kName);
  if (row.how == RateHow::kWarp) return gpu::kernel_of(&rate_kernel<RateOwn, gda::Warp, 1>, kName);
  if (row.how == RateHow::kBlock) return gpu::kernel_of(&rate_kernel<RateOwn, gda::Block, 1>, kName);
  if (row.how == RateHow::kUnordered) return gpu::kernel_of(&rate_kernel<RateUnordered, gda::Solo, 1>, kName);
  if (row.batch == 16) return gpu::kernel_of(&rate_kernel<RateOwn, gda::Solo, 16>, kName);
  return gpu::kernel_of(&rate_kernel<RateOwn, gda::Solo, 1>, kName);
}

gpu::Kernel<RateJob> rate_kernel_of_bursts() {
  return gpu::kernel_of(&burst_kernel, "gpu-rate, prebuilt");
}

}  // namespace marrow::experiments
