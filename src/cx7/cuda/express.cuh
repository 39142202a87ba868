// SPDX-License-Identifier: Apache-2.0
// Stops 6 to 8 in one go, for what GPU lanes post most: writes of 8 bytes inline or up to 256 by pointer, one WQEBB
// each, through keys that this queue has used before. A lane executes its own queue's single WQE alone, all lanes side
// by side; a warp executes a batch. Whatever does not look exactly like that takes the long way (serve.cuh), which
// leaves the keys' windows behind. Nothing hides the latency of a warp that runs alone, so the checks are comparisons
// of words as they lie in memory.
#pragma once

#include "cx7/cuda/complete.cuh"
#include "cx7/cuda/execute.cuh"
#include "cx7/cuda/watch.cuh"

namespace marrow::cx7::cuda {

/// A key that a queue's writes have gone through, checked for all but the range; good for as long as the tables are.
/// `key` 0: none. The key as it stands in WQEs.
struct Window {
  std::uint32_t key = 0;
  bool near = false;
  bool relaxed = false;
  std::uint64_t iova = 0;
  std::uint64_t bytes = 0;
  std::byte* at = nullptr;

  /// Null for what lies beyond.
  __device__ std::byte* find(std::uint64_t va, std::uint32_t size) const {
    const std::uint64_t offset = va - iova;
    return offset <= bytes && size <= bytes - offset ? at + offset : nullptr;
  }
};

/// The last used keys of a queue: the peer's, and its own.
struct Windows {
  Window remote;
  Window local;
};

/// What an express write does.
struct Move {
  std::byte* to = nullptr;          // null: it must take the long way
  const std::byte* from = nullptr;  // null: inline, 8 bytes
  std::uint32_t bytes = 8;
};

__device__ inline Move move_of(const QueueEntry& queue, const Windows& windows, const Head& head, std::uint32_t index) {
  constexpr std::uint32_t kCompletionBits = 0x0c00'0000;
  constexpr std::uint32_t kInline8 = 0x0800'0080;
  constexpr std::uint32_t kInlineBit = 0x80;
  const std::uint32_t opcode_index = swapped((index & 0xffff) << 8 | static_cast<std::uint32_t>(wire::Opcode::kWrite));
  const bool plain = head.ctrl.x == opcode_index && head.ctrl.y == swapped(queue.qpn << 8 | 3) &&
                     (head.ctrl.z & ~kCompletionBits) == 0 && head.remote.z == windows.remote.key;
  if (!plain) return {};
  Move move;
  if (head.data.x != kInline8) {
    move.bytes = swapped(head.data.x);
    if ((head.data.x & kInlineBit) != 0 || move.bytes == 0 || move.bytes > kMostBytesOfOneLane) return {};
    if (head.data.y != windows.local.key) return {};
    move.from = windows.local.find(swapped(head.data.z, head.data.w), move.bytes);
    if (move.from == nullptr) return {};
  }
  move.to = windows.remote.find(swapped(head.remote.x, head.remote.y), move.bytes);
  const bool whole = move.from != nullptr || (reinterpret_cast<std::uintptr_t>(move.to) & 7) == 0;
  return whole ? move : Move{};
}

__device__ inline void carry_out(const Move& move, const Head& head) {
  if (move.from == nullptr) return store64(move.to, std::uint64_t{head.data.z} << 32 | head.data.y);
  copy_by_lane(move.to, move.from, move.bytes);
}

__device__ inline bool is_signalled(const Head& head) {
  return (head.ctrl.z & 0x0800'0000) != 0;
}

/// WQE `index` is older than the doorbell that announced it. The long way may find it arrived: so it must be told.
__device__ inline bool is_stale(const QueueEntry& queue, const Head& head, std::uint32_t index, std::uint32_t named) {
  return !is_fresh(queue, head.ctrl, index) && static_cast<std::int32_t>(named - index) > 0;
}

__device__ inline Content written(std::uint32_t index, std::uint32_t bytes) {
  return {.wqe_opcode = wire::Opcode::kWrite, .wqe_counter = index, .bytes = bytes};
}

/// A lane's own queue with one WQE, whose bytes are `head`. False, and nothing done, when it must take the long way.
__device__ __forceinline__ bool express_one(const QueueEntry& queue, Watcher& watcher, const Windows& windows,
                                            const Head& head) {
  Progress& at = watcher.at;
  const Move move = windows.remote.key != 0 ? move_of(queue, windows, head, at.next) : Move{};
  if (move.to == nullptr) {
    watcher.met_stale = is_stale(queue, head, at.next, at.named);
    watcher.stale = at.next;
    return false;
  }
  carry_out(move, head);
  const bool signalled = is_signalled(head);
  if (signalled) store_body(queue, at.cqes, written(at.next, move.bytes), watcher.clock_ns);
  fence_of_lane(queue.near_only != 0 && windows.remote.near);
  if (signalled) store_tail(queue, at.cqes, written(at.next, move.bytes));
  at.cqes += signalled ? 1 : 0;
  ++at.next;
  watcher.tally.cqes += signalled ? 1 : 0;
  ++watcher.tally.wqes;
  return true;
}

inline constexpr std::uint32_t kWqesOfALane = 2;    // a round: their loads travel side by side
inline constexpr std::uint32_t kRoundsOfATurn = 8;  // before doorbells are looked at again

/// One round of a batch: WQE `next + lane` and the one 32 behind it.
struct Round {
  Head head[kWqesOfALane];
  Move move[kWqesOfALane];
};

/// The first stale WQE of a round that is not plain.
__device__ inline void find_stale(const QueueEntry& queue, const Round& round, std::uint32_t n, Turn& turn) {
  const std::uint32_t lane = threadIdx.x % kLanes;
#pragma unroll
  for (std::uint32_t k = 0; k < kWqesOfALane; ++k) {
    const std::uint32_t index = turn.next + lane + k * kLanes;
    const bool mine = lane + k * kLanes < n && is_stale(queue, round.head[k], index, turn.named);
    const std::uint32_t stale = __ballot_sync(~0u, mine);
    if (stale == 0 || turn.met_stale) continue;
    turn.met_stale = true;
    turn.stale = turn.next + k * kLanes + static_cast<std::uint32_t>(__ffs(static_cast<int>(stale))) - 1;
  }
}

/// Fetches `n` WQEs and checks them; false when any must take the long way. All lanes call.
__device__ inline bool fetch_round(const QueueEntry& queue, const Windows& windows, std::uint32_t n, Round& round,
                                   Turn& turn) {
  const std::uint32_t lane = threadIdx.x % kLanes;
  const std::uint32_t next = turn.next;
  bool plain = true;
#pragma unroll
  for (std::uint32_t k = 0; k < kWqesOfALane; ++k) {
    if (lane + k * kLanes < n) round.head[k] = load_head(queue, next + lane + k * kLanes);
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kWqesOfALane; ++k) {
    if (lane + k * kLanes >= n) continue;
    round.move[k] = move_of(queue, windows, round.head[k], next + lane + k * kLanes);
    plain = plain && round.move[k].to != nullptr;
  }
  if (__all_sync(~0u, plain)) return true;
  find_stale(queue, round, n, turn);
  return false;
}

/// CQEs of a round, in the order of the WQEs; `tails` is false for the bodies, which one fence puts before the words
/// with the owner bits.
__device__ inline std::uint32_t store_cqes(const QueueEntry& queue, const Round& round, std::uint32_t n,
                                           const Turn& turn, bool tails) {
  const std::uint32_t lane = threadIdx.x % kLanes;
  std::uint32_t before = 0;
  std::uint32_t signalled[kWqesOfALane];
#pragma unroll
  for (std::uint32_t k = 0; k < kWqesOfALane; ++k) {
    signalled[k] = __ballot_sync(~0u, lane + k * kLanes < n && is_signalled(round.head[k]));
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kWqesOfALane; ++k) {
    const bool last = signalled[k] >> lane == 1 && (k + 1 == kWqesOfALane || signalled[kWqesOfALane - 1] == 0);
    const bool writes = (signalled[k] >> lane & 1) != 0 && (queue.cq_collapsed == 0 || last);
    const std::uint64_t pi = turn.cqes + before + static_cast<std::uint32_t>(__popc(signalled[k] & ((1u << lane) - 1)));
    const Content content = written(turn.next + lane + k * kLanes, round.move[k].bytes);
    if (writes && !tails) store_body(queue, pi, content, turn.clock_ns);
    if (writes && tails) store_tail(queue, pi, content);
    before += static_cast<std::uint32_t>(__popc(signalled[k]));
  }
  return before;
}

/// As much of one queue as a turn allows, all lanes with the same `turn`. False, and nothing done, when the first WQEs
/// must take the long way, or when they may not pass each other.
__device__ __forceinline__ bool express_batch(const QueueEntry& queue, const Windows& windows, Turn& turn) {
  const bool alone = turn.posted - turn.next == 1;
  if (windows.remote.key == 0 || !(windows.remote.relaxed || alone) || turn.met_stale) return false;
  const std::uint32_t lane = threadIdx.x % kLanes;
  const std::uint32_t start = turn.next;
  for (std::uint32_t rounds = 0; rounds < kRoundsOfATurn && turn.next != turn.posted; ++rounds) {
    const std::uint32_t n = min(turn.posted - turn.next, kLanes * kWqesOfALane);
    Round round{};
    if (!fetch_round(queue, windows, n, round, turn)) break;
#pragma unroll
    for (std::uint32_t k = 0; k < kWqesOfALane; ++k) {
      if (lane + k * kLanes < n) carry_out(round.move[k], round.head[k]);
    }
    store_cqes(queue, round, n, turn, false);
    fence(queue.near_only != 0 && windows.remote.near);
    turn.cqes += store_cqes(queue, round, n, turn, true);
    turn.next += n;
  }
  turn.wqes_done += turn.next - start;
  return turn.next != start;
}

__device__ inline Window window_of(const KeyEntry& key, std::uint32_t raw_key, std::uint32_t pdn,
                                   std::uint32_t access) {
  const auto* const words = reinterpret_cast<const std::byte*>(&key);
  const uint4 range = load128(words);
  const uint4 place = load128(words + 16);
  const uint4 rights = load128(words + 32);
  const auto at = std::uint64_t{place.y} << 32 | place.x;
  const bool good = (rights.x & access) == access && place.z != 0 && place.z == swapped(raw_key) && place.w == pdn;
  if (!good || at == 0) return {};
  return {.key = raw_key,
          .near = rights.y != 0,
          .relaxed = (rights.x & kRelaxedOrdering) != 0,
          .iova = std::uint64_t{range.y} << 32 | range.x,
          .bytes = std::uint64_t{range.w} << 32 | range.z,
          .at = reinterpret_cast<std::byte*>(at)};  // NOLINT(performance-no-int-to-ptr)
}

/// The windows of the WQE before `next`, so that the next one like it is quick. By the queue's own lane.
__device__ inline Windows windows_of(const Tables& tables, const QueueEntry& queue, std::uint32_t next) {
  if (queue.dc_lids != 0) return {};  // a DCI's WQEs look different, and each names its peer
  const Head head = load_head(queue, next - 1);
  const uint4 peer = load128(&queue.far->peers[queue.remote_qpn & 0xffff]);
  if ((peer.w & kRemoteWrite) == 0) return {};
  const KeyEntry& far_key = queue.far->keys[swapped(head.remote.z) >> 8 & 0xffff];
  const KeyEntry& own_key = tables.sides[queue.device & 1].keys[swapped(head.data.y) >> 8 & 0xffff];
  return {window_of(far_key, head.remote.z, peer.z, kRemoteWrite), window_of(own_key, head.data.y, queue.pdn, 0)};
}

}  // namespace marrow::cx7::cuda
