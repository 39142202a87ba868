// SPDX-License-Identifier: Apache-2.0
// See lanes.h.
#include "lanes.h"
#include "marrow/gda/send_queue.h"

namespace marrow::cx7::test {
namespace {

/// By pointer, with room for an atomic of two WQEBBs.
struct LanePolicy : gda::Pointer<gda::SystemFence> {
  static constexpr std::uint32_t max_inline_bytes = 92;
};

template <class Queue>
__device__ void write_masked(Queue& sq, const LaneJob& job, const gda::Slot& slot) {
  const gda::MaskedAdd add{.at = job.there, .result = job.here, .add = job.operand, .boundary = job.boundary};
  const gda::MaskedSwap swap{.at = job.there,
                             .result = job.here,
                             .compare = job.compare,
                             .compare_mask = job.compare_mask,
                             .swap = job.operand,
                             .swap_mask = job.swap_mask};
  if (job.what == What::kAdd4) return sq.masked_add4(slot, add);
  if (job.what == What::kAdd8) return sq.masked_add8(slot, add);
  if (job.what == What::kSwap4) return sq.masked_swap4(slot, swap);
  sq.masked_swap8(slot, swap);
}

template <class Queue>
__device__ void write_one(Queue& sq, const LaneJob& job, const gda::Slot& slot, std::uint64_t number) {
  switch (job.what) {
    case What::kInlineWrite:
      *reinterpret_cast<volatile std::uint64_t*>(job.here.addr) = number;
      return sq.write_value(slot, job.there, number);
    case What::kPointerWrite:
      return sq.write(slot, {.to = job.there, .from = job.here, .bytes = job.bytes});
    case What::kRead:
      return sq.read(slot, {.from = job.there, .to = job.here, .bytes = job.bytes});
    case What::kFetchAdd:
      return sq.fetch_add(slot, {.at = job.there, .result = job.here, .add = job.operand});
    case What::kCompareSwap:
      return sq.compare_swap(slot, {.at = job.there, .result = job.here, .compare = job.compare, .swap = job.operand});
    default:
      return write_masked(sq, job, slot);
  }
}

__global__ void run_lane(LaneJob job) {
  gda::SendQueue<LanePolicy> sq(job.qp);
  const gda::Solo team;
  gda::Result result;
  for (std::uint64_t done = 0; done < job.times && result.ok();) {
    const auto n = static_cast<std::uint32_t>(
        min(static_cast<unsigned long long>(job.batch), static_cast<unsigned long long>(job.times - done)));
    const auto slots = sq.reserve(team, gda::Room{.wqes = n, .wqebbs = job.what == What::kSwap8 ? 2u : 1u});
    for (std::uint32_t k = 0; k < n; ++k) write_one(sq, job, slots[k], done + k + 1);
    result = sq.wait(team, sq.submit(team, slots));
    done += n;
  }
  *job.result = result;
}

__device__ void send_notices(const LaneJob& job) {
  gda::SendQueue<LanePolicy> sq(job.qp);
  const gda::Solo team;
  gda::Result result;
  for (std::uint64_t number = 1; number <= job.times && result.ok(); ++number) {
    *reinterpret_cast<volatile std::uint64_t*>(job.here.addr) = number;
    const auto slots = sq.reserve(team, 1);
    sq.write_imm(slots[0], {.to = job.there, .from = job.here, .bytes = 8}, static_cast<std::uint32_t>(number));
    result = sq.wait(team, sq.submit(team, slots));
  }
  *job.result = result;
}

__device__ void take_notices(const NoticeJob& job) {
  *job.right = 0;
  if (job.receives == 0) return;
  gda::ReceiveQueue rq(job.ring);
  rq.post(job.receives);
  std::uint64_t right = 0;
  while (right < job.send.times) {
    *job.last = rq.wait();
    const std::uint64_t bytes = *const_cast<const volatile std::uint64_t*>(job.word);
    const bool in_order = job.last->imm == static_cast<std::uint32_t>(right + 1) && job.last->bytes == 8;
    if (!job.last->result.ok() || !in_order || bytes < right + 1) break;
    ++right;
    rq.post(1);
  }
  *job.right = right;
}

__global__ void run_notices(NoticeJob job) {
  if (blockIdx.x == 0) {
    take_notices(job);
  } else {
    send_notices(job.send);
  }
}

__global__ void run_watcher(WatchJob job) {
  gda::SpinLimit limit(5'000'000'000);
  while (*reinterpret_cast<const volatile std::uint64_t*>(job.at) != job.value) {
    if (limit.expired()) return;
  }
  *job.seen = 1;
}

}  // namespace

gpu::Kernel<LaneJob> lane() {
  return gpu::kernel_of(&run_lane, "lane");
}
gpu::Kernel<NoticeJob> notices() {
  return gpu::kernel_of(&run_notices, "notices");
}
gpu::Kernel<WatchJob> watcher() {
  return gpu::kernel_of(&run_watcher, "watcher");
}

}  // namespace marrow::cx7::test
