// SPDX-License-Identifier: Apache-2.0
// Stop 7 of 9 on the GPU: checked WQEs become loads and stores, those of a round side by side as far as order allows.
// Order: a WQE whose target key was registered with relaxed ordering may pass writes before it, as on a NIC; any other
// waits until what was before it in its queue is visible. Facts: [prm: IBA vol. 1, 9.4 and 9.5; PCIe relaxed ordering].
#pragma once

#include "cx7/cuda/fetch.cuh"

namespace marrow::cx7::cuda {

inline constexpr std::uint32_t kMostBytesOfOneLane = 256;  // more are copied by the whole warp

/// A masked atomic's operands, in 64 bits whatever its width.
struct Operands {
  std::uint64_t value = 0;  // what is added or swapped in
  std::uint64_t compare = 0;
  std::uint64_t swap_mask = 0;
  std::uint64_t compare_mask = 0;
  std::uint64_t boundary = 0;
};

__device__ inline Operands operands_of(const Wqe& wqe) {
  const uint4 a = wqe.segment[1];
  const uint4 b = wqe.segment[2];
  const bool wide = wqe.bytes == 8;
  if (wqe.opcode == wire::Opcode::kMaskedFetchAdd) {
    return {.value = wide ? swapped(a.x, a.y) : swapped(a.x), .boundary = wide ? swapped(a.z, a.w) : swapped(a.y)};
  }
  if (!wide) return {swapped(a.x), swapped(a.y), swapped(a.z), swapped(a.w), 0};
  return {swapped(a.x, a.y), swapped(a.z, a.w), swapped(b.x, b.y), swapped(b.z, b.w), 0};
}

/// What a masked atomic leaves behind. Adding stops each carry at a boundary bit.
__device__ inline std::uint64_t outcome(wire::Opcode opcode, std::uint64_t old, const Operands& with) {
  if (opcode == wire::Opcode::kMaskedFetchAdd) {
    const std::uint64_t inner = (old & ~with.boundary) + (with.value & ~with.boundary);
    return inner ^ ((old ^ with.value) & with.boundary);
  }
  const bool same = ((old ^ with.compare) & with.compare_mask) == 0;
  return same ? (old & ~with.swap_mask) | (with.value & with.swap_mask) : old;
}

/// At `wqe.remote`, in words of type Word; returns what was there.
template <class Word>
__device__ inline Word masked_atomic(const Wqe& wqe) {
  auto* const at = reinterpret_cast<Word*>(wqe.remote);
  const Operands with = operands_of(wqe);
  Word old = *const_cast<volatile Word*>(at);
  for (;;) {
    const auto seen = atomicCAS_system(at, old, static_cast<Word>(outcome(wqe.opcode, old, with)));
    if (seen == old) return old;
    old = seen;
  }
}

__device__ inline std::uint64_t plain_atomic(const Wqe& wqe) {
  auto* const at = reinterpret_cast<unsigned long long*>(wqe.remote);
  const uint4 operand = wqe.segment[1];
  const unsigned long long first = swapped(operand.x, operand.y);
  const unsigned long long second = swapped(operand.z, operand.w);
  return wqe.opcode == wire::Opcode::kFetchAdd ? atomicAdd_system(at, first) : atomicCAS_system(at, second, first);
}

/// The old value comes back in host byte order, as the device's capabilities say of 8 bytes; 4 are big-endian.
__device__ inline void execute_atomic(const Wqe& wqe) {
  const bool masked = wqe.opcode == wire::Opcode::kMaskedFetchAdd || wqe.opcode == wire::Opcode::kMaskedCompareSwap;
  if (!masked) return store64(wqe.local, plain_atomic(wqe));
  if (wqe.bytes == 8) return store64(wqe.local, masked_atomic<unsigned long long>(wqe));
  store32(wqe.local, swapped(masked_atomic<unsigned int>(wqe)));
}

/// One piece of a transfer: from this side to the far one, or back for a read.
__device__ inline void move(const Wqe& wqe, std::byte* remote, std::byte* local, std::uint32_t bytes, bool by_warp) {
  std::byte* const to = wqe.action == Action::kRead ? local : remote;
  const std::byte* const from = wqe.action == Action::kRead ? remote : local;
  if (by_warp) {
    copy_by_warp(to, from, bytes);
  } else {
    copy_by_lane(to, from, bytes);
  }
}

/// Inline payload begins behind its header word and may cross the end of the ring. Short ones are in registers.
__device__ inline void place_inline(const Fetch& f, const Wqe& wqe) {
  const uint4 first = wqe.segment[1];
  const bool aligned = (reinterpret_cast<std::uintptr_t>(wqe.remote) & 7) == 0;
  if (aligned && wqe.bytes == 8) return store64(wqe.remote, std::uint64_t{first.z} << 32 | first.y);
  if (aligned && wqe.bytes == 4) return store32(wqe.remote, first.y);
  const std::uint32_t ring = (f.queue.sq_mask + 1) * wire::kWqebbBytes;
  const auto begin = static_cast<std::uint32_t>(segment_at(f.queue, wqe.index, 2 + wqe.av_ds) - f.queue.sq) + 4;
  const std::uint32_t before_end = min(wqe.bytes, ring - begin);
  copy_by_lane(wqe.remote, f.queue.sq + begin, before_end);
  copy_by_lane(wqe.remote + before_end, f.queue.sq, wqe.bytes - before_end);
}

/// Several pieces, in the order of the WQE.
__device__ inline void move_pieces(const Fetch& f, const Wqe& wqe, bool by_warp) {
  const std::uint32_t access = wqe.action == Action::kRead ? kLocalWrite : 0;
  std::uint32_t done = 0;
  for (std::uint32_t k = 2; k < wqe.ds && done < wqe.bytes; ++k) {
    const uint4 segment = load128(segment_at(f.queue, wqe.index, k + wqe.av_ds));
    const Range range{swapped(segment.y), access, swapped(segment.z, segment.w), swapped(segment.x)};
    const Found found = resolve(f.tables.sides[f.queue.device], f.queue.pdn, range);
    if (found.at == nullptr) return;  // the WQE was overwritten after its check: as much as was done is done
    move(wqe, wqe.remote + done, found.at, static_cast<std::uint32_t>(range.bytes), by_warp);
    done += static_cast<std::uint32_t>(range.bytes);
  }
}

/// With `by_warp` all lanes come with the same `wqe`.
__device__ inline void transfer(const Fetch& f, const Wqe& wqe, bool by_warp) {
  if (wqe.bytes == 0) return;
  if (wqe.is_inline) return place_inline(f, wqe);
  if (wqe.local != nullptr) return move(wqe, wqe.remote, wqe.local, wqe.bytes, by_warp);
  move_pieces(f, wqe, by_warp);
}

__device__ inline Wqe broadcast(const Wqe& mine, std::uint32_t lane) {
  Wqe w = mine;
  const auto pointer = [lane](std::byte* p) {
    return reinterpret_cast<std::byte*>(__shfl_sync(~0u, reinterpret_cast<unsigned long long>(p), lane));
  };
  w.index = __shfl_sync(~0u, mine.index, lane);
  w.ds = __shfl_sync(~0u, mine.ds, lane);
  w.av_ds = __shfl_sync(~0u, mine.av_ds, lane);
  w.bytes = __shfl_sync(~0u, mine.bytes, lane);
  w.action = static_cast<Action>(__shfl_sync(~0u, static_cast<unsigned>(mine.action), lane));
  w.remote = pointer(mine.remote);
  w.local = pointer(mine.local);
  return w;
}

/// Executes what the lanes in `chosen` hold, oldest in the lowest lane. All lanes call.
__device__ __forceinline__ void execute(const Fetch& f, const Wqe& wqe, std::uint32_t chosen, bool near) {
  const std::uint32_t lane = threadIdx.x % kLanes;
  const bool moves = wqe.action == Action::kWrite || wqe.action == Action::kRead;
  while (chosen != 0) {
    // A run: its first, and all behind it that may pass each other.
    const std::uint32_t barriers = __ballot_sync(~0u, wqe.ordered) & chosen;
    const std::uint32_t behind_first = barriers & ~(chosen & -chosen);
    const std::uint32_t run = behind_first == 0 ? chosen : chosen & ((behind_first & -behind_first) - 1);
    const bool mine = (run >> lane & 1) != 0;
    const bool large = mine && moves && !wqe.is_inline && wqe.bytes > kMostBytesOfOneLane;
    if (mine && moves && !large) transfer(f, wqe, false);
    if (mine && wqe.action == Action::kAtomic) execute_atomic(wqe);
    for (std::uint32_t left = __ballot_sync(~0u, large); left != 0; left &= left - 1) {
      transfer(f, broadcast(wqe, static_cast<std::uint32_t>(__ffs(static_cast<int>(left))) - 1), true);
    }
    chosen &= ~run;
    if (chosen != 0) fence(near);
  }
  __syncwarp();
}

}  // namespace marrow::cx7::cuda
