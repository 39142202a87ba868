// SPDX-License-Identifier: Apache-2.0
// The kernel. A NIC never ends and a kernel should: whoever synchronises the device, frees memory or loads a module
// would wait for it for ever. So the engine works in shifts of a few milliseconds. The next shift's warps arrive while
// the last one's still work, and each takes over from its predecessor in a microsecond. A shift whose successor does
// not come ends all the same: then a call that waits for the GPU keeps it from coming, and lets it come afterwards.
// Where the GPU is full of other blocks, the successor has the higher priority for the room that becomes free.
#include "cx7/cuda/express.cuh"
#include "cx7/cuda/serve.cuh"
#include "cx7/cuda/shift.cuh"

namespace marrow::cx7::cuda {
namespace {

constexpr std::uint32_t kGenerationEvery = 8;     // rounds
constexpr std::uint32_t kLearnEvery = 16;         // turns that took the long way
constexpr std::uint32_t kClockEvery = 32;         // rounds
constexpr std::uint64_t kPatienceNs = 2'000'000;  // for a successor
constexpr std::uint32_t kIdleNapNs = 500;         // of a warp with no queue to watch

/// One warp's shift.
class Worker {
 public:
  __device__ Worker(const ShiftOrder& order, QueueEntry* queues, std::uint32_t warp)
      : order_(order), tables_(*order.tables), queues_(queues), warp_(warp), lane_(threadIdx.x % kLanes) {}

  __device__ void run() {
    if (!take_over()) return;
    const std::uint64_t start = now_ns();
    load();
    for (std::uint32_t round = 0;; ++round) {
      if (round % kGenerationEvery == 0 && __any_sync(~0u, load32(&tables_.generation) != generation_)) load_anew();
      if (busy_) {
        work(round);
      } else {
        __nanosleep(kIdleNapNs);
      }
      if (round % kClockEvery == 0 && may_end(start)) break;
    }
    store();
    if (lane_ == 0) store32_release(&tables_.turn[warp_], order_.shift + 1);
  }

 private:
  /// Waits for the predecessor; false when the engine is told to stop before.
  __device__ bool take_over() {
    if (lane_ == 0) store32_release(&tables_.arrived[warp_], order_.shift);
    for (;;) {
      const bool mine = load32_acquire(&tables_.turn[warp_]) == order_.shift;
      if (__any_sync(~0u, mine)) return true;
      if (__any_sync(~0u, load32(&order_.board->stop) != 0)) return false;
      __nanosleep(200);
    }
  }

  __device__ bool may_end(std::uint64_t start) {
    watcher_.clock_ns = now_ns();
    const std::uint64_t worked = watcher_.clock_ns - start;
    const std::uint64_t length = std::uint64_t{order_.length_us} * 1000;
    const bool relieved = worked > length && load32(&tables_.arrived[warp_]) == order_.shift + 1;
    return __any_sync(~0u, relieved || worked > length + kPatienceNs);
  }

  /// Reads tables and progress; says by which generation it works.
  __device__ void load() {
    generation_ = __shfl_sync(~0u, load32_acquire(&tables_.generation), 0);
    const auto* const from = reinterpret_cast<const std::byte*>(&tables_.queues[warp_][lane_]);
    auto* const to = reinterpret_cast<uint4*>(&queues_[lane_]);
#pragma unroll
    for (std::uint32_t k = 0; k < sizeof(QueueEntry) / 16; ++k) to[k] = load128(from + 16 * k);
    const auto* const progress = reinterpret_cast<const std::byte*>(&tables_.progress[warp_][lane_]);
    Progress& at = watcher_.at;
    auto* const mine = reinterpret_cast<uint4*>(&at);
#pragma unroll
    for (std::uint32_t k = 0; k < sizeof(Progress) / 16; ++k) mine[k] = load128(progress + 16 * k);
    start_fresh(queues_[lane_]);
    __syncwarp();
    busy_ = __any_sync(~0u, queues_[lane_].qpn != 0);
    if (lane_ == 0) store32(&order_.board->shift[warp_], order_.shift);
    if (lane_ == 0) store32_release(&order_.board->seen[warp_], generation_);
  }
  /// A queue's new life knows nothing of the old one's doorbells; an old life looks at the registers again.
  __device__ void start_fresh(const QueueEntry& queue) {
    Progress& at = watcher_.at;
    if (at.cq_life != queue.kept_cq_life) at.cqes = 0;
    const bool fresh = at.life != queue.life;
    if (fresh) at = {.life = queue.life, .cqes = at.cqes};
    at.cq_life = queue.kept_cq_life;
    watcher_.hot_seen = 0;
    windows_ = {};
    watcher_.knows_own = false;
    watcher_.overheard_since_ns = 0;
    watcher_.overheard_again = false;
    watcher_.met_stale = false;
    long_ways_ = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kRegisters; ++k) {
      const bool old = fresh && queue.qpn != 0;
      watcher_.seen[k] = old ? load64(queue.registers + k * wire::kUarDoorbellStride) : 0;
    }
    if (fresh) watcher_.hot_seen = watcher_.seen[0];
    if (fresh) watcher_.hot = 0;
    if (!fresh && queue.qpn != 0) load_registers(queue, watcher_);  // which one is its own
  }
  __device__ void store() {
    auto* const to = reinterpret_cast<std::byte*>(&tables_.progress[warp_][lane_]);
    const auto* const mine = reinterpret_cast<const uint4*>(&watcher_.at);
#pragma unroll
    for (std::uint32_t k = 0; k < sizeof(Progress) / 16; ++k) store128(to + 16 * k, mine[k]);
    GpuCounters& counters = tables_.counters[queues_[lane_].device];
    Tally& tally = watcher_.tally;
    if (tally.doorbells != 0) count(counters.doorbells, tally.doorbells);
    if (tally.wqes != 0) count(counters.wqes_fetched, tally.wqes);
    if (tally.cqes != 0) count(counters.cqes_written, tally.cqes);
    tally = {};
    fence(false);
  }
  __device__ void load_anew() {
    store();
    load();
  }

  /// Every lane looks at its queue and executes a single write itself; then the warp takes what is left, queue by
  /// queue.
  __device__ void work(std::uint32_t round) {
    const QueueEntry& mine = queues_[lane_];
    const Progress& at = watcher_.at;
    bool flushes = false;
    if (mine.qpn != 0 && mine.serve == Serve::kSend && at.failed == 0) {
      Head head;
      const bool fresh = watch(mine, watcher_, round, head, order_.strict, tables_.counters[mine.device]);
      if (fresh && at.posted - at.next == 1 && mine.cq_lane == lane_) express_one(mine, watcher_, windows_, head);
    } else if (mine.qpn != 0 && mine.serve != Serve::kNot && round % kAllRegistersEvery == 0) {
      flushes = distance16(swapped(load32(mine.dbrec_send)), at.next) > 0;
    }
    const bool sends = mine.serve == Serve::kSend && at.failed == 0 && at.posted != at.next;
    __syncwarp();
    for (std::uint32_t left = __ballot_sync(~0u, sends || flushes); left != 0; left &= left - 1) {
      give_turn(static_cast<std::uint32_t>(__ffs(static_cast<int>(left))) - 1, flushes);
    }
  }

  __device__ void give_turn(std::uint32_t whose, bool flushes) {
    const QueueEntry& queue = queues_[whose];
    Turn turn{.posted = __shfl_sync(~0u, watcher_.at.posted, whose),
              .next = __shfl_sync(~0u, watcher_.at.next, whose),
              .named = __shfl_sync(~0u, watcher_.at.named, whose),
              .cqes = __shfl_sync(~0u, watcher_.at.cqes, queue.cq_lane),
              .absent_since_ns = __shfl_sync(~0u, watcher_.at.absent_since_ns, whose),
              .clock_ns = __shfl_sync(~0u, watcher_.clock_ns, whose),
              .met_stale = __shfl_sync(~0u, watcher_.met_stale, whose) != 0,
              .stale = __shfl_sync(~0u, watcher_.stale, whose),
              .aimed = __shfl_sync(~0u, watcher_.at.aimed, whose)};
    const std::uint64_t cqes_before = turn.cqes;
    const std::uint32_t next_before = turn.next;
    if (__shfl_sync(~0u, flushes, whose)) {
      flush(queue, turn);
    } else if (!express_batch(queue, windows_of_lane(whose), turn)) {
      serve({tables_, queues_, order_.strict}, queue, turn);
      const bool done = turn.next != next_before && turn.failed == 0;
      if (lane_ == whose && done && long_ways_++ % kLearnEvery == 0) windows_ = windows_of(tables_, queue, turn.next);
    }
    if (lane_ == whose) {
      watcher_.at.next = turn.next;
      watcher_.at.failed |= turn.failed;
      watcher_.at.aimed = turn.aimed;
      watcher_.at.absent_since_ns = turn.absent_since_ns;
      watcher_.met_stale = turn.met_stale;
      watcher_.stale = turn.stale;
      watcher_.tally.wqes += turn.wqes_done;
      watcher_.tally.cqes += static_cast<std::uint32_t>(turn.cqes - cqes_before);
    }
    if (lane_ == queue.cq_lane) watcher_.at.cqes = turn.cqes;
  }

  __device__ Windows windows_of_lane(std::uint32_t lane) const {
    const auto of_lane = [lane](const Window& mine) -> Window {
      const auto at = __shfl_sync(~0u, reinterpret_cast<unsigned long long>(mine.at), lane);
      return {.key = __shfl_sync(~0u, mine.key, lane),
              .near = __shfl_sync(~0u, mine.near, lane) != 0,
              .relaxed = __shfl_sync(~0u, mine.relaxed, lane) != 0,
              .iova = __shfl_sync(~0u, mine.iova, lane),
              .bytes = __shfl_sync(~0u, mine.bytes, lane),
              .at = reinterpret_cast<std::byte*>(at)};  // NOLINT(performance-no-int-to-ptr)
    };
    return {of_lane(windows_.remote), of_lane(windows_.local)};
  }

  const ShiftOrder& order_;
  Tables& tables_;
  QueueEntry* queues_;
  std::uint32_t warp_;
  std::uint32_t lane_;
  Watcher watcher_;
  Windows windows_;
  std::uint32_t long_ways_ = 0;
  std::uint32_t generation_ = 0;
  bool busy_ = false;
};

__global__ void __launch_bounds__(kWarpsPerBlock* kLanes, 1) work_a_shift(const ShiftOrder order) {
  __shared__ QueueEntry queues[kWarpsPerBlock][kLanes];
  const std::uint32_t local = threadIdx.x / kLanes;
  Worker(order, queues[local], blockIdx.x * kWarpsPerBlock + local).run();
}

}  // namespace

cudaError_t load_kernel() {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, work_a_shift);
}

cudaError_t launch_shift(const ShiftOrder& order, cudaStream_t stream) {
  work_a_shift<<<kBlocks, kWarpsPerBlock * kLanes, 0, stream>>>(order);
  return cudaGetLastError();
}

}  // namespace marrow::cx7::cuda
