// SPDX-License-Identifier: Apache-2.0
// Stops 6 to 8 in one go, for what GPU lanes post most: 8-byte inline writes, one WQEBB each, through a key that this
// queue has used before. A lane executes its own queue's single WQE alone, all lanes side by side; a warp executes a
// batch. Whatever does not look exactly like that takes the long way (serve.cuh), which leaves the key's window behind.
// Why: a warp that runs alone needs a microsecond for 400 dependent instructions, so the checks are comparisons of
// words as they lie in memory.
#pragma once

#include "cx7/cuda/complete.cuh"
#include "cx7/cuda/watch.cuh"

namespace marrow::cx7::cuda {

/// Where a queue's writes with one rkey may go: peer, key, rights and domain are checked already. Good for as long as
/// the tables are; `rkey` 0: none. Words as they stand in WQEs.
struct Window {
  std::uint32_t rkey = 0;
  bool near = false;
  bool relaxed = false;
  std::uint64_t iova = 0;
  std::uint64_t last = 0;  // offset of the last 8 bytes
  std::byte* at = nullptr;
};

/// The first three segments of a WQE.
struct Head {
  uint4 ctrl;
  uint4 remote;
  uint4 data;
};

__device__ inline Head load_head(const QueueEntry& queue, std::uint32_t index) {
  const std::byte* const block = segment_at(queue, index, 0);
  return {load128(block), load128(block + 16), load128(block + 32)};
}

/// Where the write goes, null when it must take the long way.
__device__ inline std::byte* target_of(const QueueEntry& queue, const Window& window, const Head& head,
                                       std::uint32_t index) {
  constexpr std::uint32_t kCompletionBits = 0x0c00'0000;
  constexpr std::uint32_t kInline8 = 0x0800'0080;
  const std::uint32_t opcode_index = swapped((index & 0xffff) << 8 | static_cast<std::uint32_t>(wire::Opcode::kWrite));
  const bool plain = head.ctrl.x == opcode_index && head.ctrl.y == swapped(queue.qpn << 8 | 3) &&
                     (head.ctrl.z & ~kCompletionBits) == 0 && head.data.x == kInline8 && head.remote.z == window.rkey;
  const std::uint64_t offset = swapped(head.remote.x, head.remote.y) - window.iova;
  std::byte* const to = window.at + offset;
  return plain && offset <= window.last && (reinterpret_cast<std::uintptr_t>(to) & 7) == 0 ? to : nullptr;
}

__device__ inline bool is_signalled(const Head& head) {
  return (head.ctrl.z & 0x0800'0000) != 0;
}

__device__ inline Content written(std::uint32_t index) {
  return {.wqe_opcode = wire::Opcode::kWrite, .wqe_counter = index, .bytes = 8};
}

/// A lane's own queue with one WQE. False, and nothing done, when it must take the long way.
__device__ inline bool express_one(const QueueEntry& queue, Watcher& watcher, const Window& window) {
  Progress& at = watcher.at;
  if (window.rkey == 0) return false;
  const Head head = load_head(queue, at.next);
  std::byte* const to = target_of(queue, window, head, at.next);
  if (to == nullptr) return false;
  store64(to, std::uint64_t{head.data.z} << 32 | head.data.y);
  const bool signalled = is_signalled(head);
  if (signalled) store_body(queue, at.cqes, written(at.next), watcher.clock_ns);
  fence_of_lane(queue.near_only != 0 && window.near);
  if (signalled) store_tail(queue, at.cqes, written(at.next));
  at.cqes += signalled ? 1 : 0;
  ++at.next;
  watcher.tally.cqes += signalled ? 1 : 0;
  ++watcher.tally.wqes;
  return true;
}

/// Up to 32 WQEs of one queue, all lanes with the same `turn`. False, and nothing done, when any must take the long
/// way, or when they may not pass each other.
__device__ inline bool express_batch(const QueueEntry& queue, const Window& window, Turn& turn) {
  const std::uint32_t lane = threadIdx.x % kLanes;
  const std::uint32_t n = min(turn.posted - turn.next, kLanes);
  if (window.rkey == 0 || !window.relaxed) return false;
  const std::uint32_t index = turn.next + lane;
  Head head{};
  std::byte* to = nullptr;
  if (lane < n) {
    head = load_head(queue, index);
    to = target_of(queue, window, head, index);
  }
  if (__any_sync(~0u, lane < n && to == nullptr)) return false;
  if (lane < n) store64(to, std::uint64_t{head.data.z} << 32 | head.data.y);
  const std::uint32_t signalled = __ballot_sync(~0u, lane < n && is_signalled(head));
  const bool last = signalled >> lane == 1;
  const bool writes = (signalled >> lane & 1) != 0 && (queue.cq_collapsed == 0 || last);
  const std::uint64_t pi = turn.cqes + static_cast<std::uint32_t>(__popc(signalled & ((1u << lane) - 1)));
  if (writes) store_body(queue, pi, written(index), turn.clock_ns);
  fence(queue.near_only != 0 && window.near);
  if (writes) store_tail(queue, pi, written(index));
  turn.cqes += static_cast<std::uint32_t>(__popc(signalled));
  turn.next += n;
  turn.wqes_done += n;
  return true;
}

/// The window of the WQE before `next`, so that the next one like it is quick. By the queue's own lane.
__device__ inline Window window_of(const Tables& tables, const QueueEntry& queue, std::uint32_t next) {
  const uint4 remote = load128(segment_at(queue, next - 1, 1));
  const std::uint32_t rkey = swapped(remote.z);
  const PeerEntry& peer = tables.peers[queue.remote_device & 1][queue.remote_qpn & 0xffff];
  const KeyEntry& key = tables.keys[queue.remote_device & 1][rkey >> 8 & 0xffff];
  const uint4 who = load128(&peer);
  const uint4 range = load128(&key);
  const uint4 place = load128(reinterpret_cast<const std::byte*>(&key) + 16);
  const uint4 rights = load128(reinterpret_cast<const std::byte*>(&key) + 32);
  const std::uint64_t bytes = std::uint64_t{range.w} << 32 | range.z;
  const auto at = std::uint64_t{place.y} << 32 | place.x;
  const bool good = (who.w & kRemoteWrite) != 0 && (rights.x & kRemoteWrite) != 0 && place.z == rkey && rkey != 0 &&
                    place.w == who.z && at != 0 && bytes >= 8;
  if (!good) return {};
  return {.rkey = remote.z,
          .near = rights.y != 0,
          .relaxed = (rights.x & kRelaxedOrdering) != 0,
          .iova = std::uint64_t{range.y} << 32 | range.x,
          .last = bytes - 8,
          .at = reinterpret_cast<std::byte*>(at)};  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace marrow::cx7::cuda
