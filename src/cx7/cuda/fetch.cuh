// SPDX-License-Identifier: Apache-2.0
// Stop 6 of 9 on the GPU: 32 lanes fetch 32 WQEBBs at once; the lane that holds a WQE's first block decodes it and
// checks every byte that it will touch. Nothing is changed here: a refusal leaves no trace in memory.
// Facts: segments and their order [dv]; which syndrome for what [prm: CQE syndromes], vendor bytes [obs: CX-6].
#pragma once

#include "cx7/cuda/gpu_memory.cuh"
#include "cx7/cuda/tables.h"
#include "cx7/cuda/watch.cuh"
#include "cx7/hca/objects.h"
#include "marrow/wire/cqe.h"
#include "marrow/wire/masked_atomic.h"
#include "marrow/wire/wqe.h"

namespace marrow::cx7::cuda {

struct Refusal {
  wire::Syndrome syndrome = wire::Syndrome::kNone;
  std::uint8_t vendor = 0;
};

enum class Action : std::uint8_t { kNothing, kNop, kWrite, kRead, kAtomic };

/// What one lane holds of a round.
struct Wqe {
  std::uint32_t index = 0;   // of its first WQEBB, free-running
  std::uint32_t wqebbs = 0;  // 0: this lane holds no first block
  std::uint32_t ds = 0;      // less those of an address vector
  std::uint32_t av_ds = 0;   // which stand behind the control segment and are left out of all counts of segments
  wire::Opcode opcode{};
  Action action = Action::kNothing;
  bool signalled = false;
  bool is_inline = false;
  bool ordered = false;  // everything before it must be visible first
  bool far = false;      // touches memory beyond the engine's own GPU
  std::byte* remote = nullptr;
  std::byte* local = nullptr;  // the only piece of this side; null when there are several, and for inline payload
  std::uint32_t bytes = 0;
  uint4 segment[3]{};  // 1 to 3: of an RC queue with the control segment the first block, fetched in one go
  Refusal refusal;
};

inline constexpr std::uint32_t kMostBytes = 1u << 30;

struct Range {
  std::uint32_t key = 0;
  std::uint32_t access = 0;
  std::uint64_t va = 0;
  std::uint64_t bytes = 0;
};

struct Found {
  std::byte* at = nullptr;
  bool relaxed = false;  // its writes may pass each other
  bool near = false;
  bool unreachable = false;  // nothing is wrong with the key, but no GPU reaches its memory
};

/// The check that stands before every byte: key, protection domain, rights, range.
__device__ inline Found resolve(const Side& side, std::uint32_t pdn, const Range& range) {
  const KeyEntry& entry = side.keys[(range.key >> 8) & 0xffff];
  const auto* const words = reinterpret_cast<const std::byte*>(&entry);
  const uint4 a = load128(words);
  const uint4 b = load128(words + 16);
  const uint4 c = load128(words + 32);
  const std::uint32_t access = c.x;
  const std::uint64_t iova = std::uint64_t{a.y} << 32 | a.x;
  const std::uint64_t bytes = std::uint64_t{a.w} << 32 | a.z;
  auto* const at = reinterpret_cast<std::byte*>(std::uint64_t{b.y} << 32 | b.x);
  if (b.z != range.key || b.z == 0 || b.w != pdn || (access & range.access) != range.access) return {};
  if (range.va < iova || range.bytes > bytes || range.va - iova > bytes - range.bytes) return {};
  if (at == nullptr) return {.unreachable = true};
  return {at + (range.va - iova), (access & kRelaxedOrdering) != 0, c.y != 0};
}

__device__ inline std::uint32_t swapped(std::uint32_t raw) {
  return wire::swap_bytes(raw);
}
__device__ inline std::uint64_t swapped(std::uint32_t first, std::uint32_t second) {
  return std::uint64_t{swapped(first)} << 32 | swapped(second);
}

/// Segment `k` >= 1 of a WQE: those of the first block are at hand.
__device__ inline uint4 segment_of(const QueueEntry& queue, const Wqe& wqe, std::uint32_t k) {
  if (k == 1) return wqe.segment[0];
  if (k == 2) return wqe.segment[1];
  if (k == 3) return wqe.segment[2];
  return load128(segment_at(queue, wqe.index, k + wqe.av_ds));
}

/// What a lane needs to decode.
struct Fetch {
  Tables& tables;
  const QueueEntry& queue;
  const PeerEntry& peer;  // the QP at the other end
  const Side& far;        // whose keys are its
};

inline constexpr Refusal kMalformed{wire::Syndrome::kLocalQpOperation, 0x68};
inline constexpr Refusal kProtection{wire::Syndrome::kLocalProtection, 0x51};
inline constexpr Refusal kRemoteInvalid{wire::Syndrome::kRemoteInvalidRequest, 0x8a};
inline constexpr Refusal kRemoteOperation{wire::Syndrome::kRemoteOperation, 0x89};
inline constexpr Refusal kRemoteAccess{wire::Syndrome::kRemoteAccess, 0x88};

/// Data segments from `first` on: adds up `bytes`, and keeps the address where there is one piece.
__device__ inline Refusal add_data(const Fetch& f, Wqe& wqe, std::uint32_t first, std::uint32_t access) {
  std::uint64_t total = 0;
  for (std::uint32_t k = first; k < wqe.ds; ++k) {
    const uint4 segment = segment_of(f.queue, wqe, k);
    const std::uint32_t count = swapped(segment.x);
    if ((count & wire::kInlineFlag) != 0) {
      const std::uint32_t bytes = count & ~wire::kInlineFlag;
      const bool fits = bytes != 0 && k == first && wire::inline_ds(bytes) == wqe.ds - first;
      if (!fits || access != 0) return kMalformed;
      wqe.bytes = bytes;
      wqe.is_inline = true;
      return {};
    }
    const std::uint64_t bytes = count == 0 ? std::uint64_t{1} << 31 : count;
    const Found found = resolve(f.tables.sides[f.queue.device], f.queue.pdn,
                                {swapped(segment.y), access, swapped(segment.z, segment.w), bytes});
    if (found.at == nullptr) return kProtection;
    wqe.local = k == first ? found.at : nullptr;
    wqe.far |= access != 0 && !found.near;
    total += bytes;
  }
  if (total > kMostBytes) return {wire::Syndrome::kLocalLength, 0};
  wqe.bytes = static_cast<std::uint32_t>(total);
  return {};
}

/// The far side of a WQE, after its local side was found good.
__device__ inline Refusal find_remote(const Fetch& f, Wqe& wqe, std::uint32_t access) {
  if ((f.peer.access & access) != access) return kRemoteInvalid;
  if (wqe.bytes == 0) return {};
  const uint4 segment = wqe.segment[0];
  const std::uint64_t va = swapped(segment.x, segment.y);
  if (wqe.action == Action::kAtomic && va % wqe.bytes != 0) return kRemoteInvalid;
  const Found found = resolve(f.far, f.peer.pdn, {swapped(segment.z), access, va, wqe.bytes});
  if (found.unreachable) count(f.tables.counters[f.queue.device].unreachable_targets);
  if (found.unreachable) return kRemoteOperation;
  if (found.at == nullptr) return kRemoteAccess;
  wqe.remote = found.at;
  wqe.far |= !found.near;
  wqe.ordered = !found.relaxed || wqe.action != Action::kWrite;
  return {};
}

/// The two shapes that an atomic's opcode and modifier give: segments of operands, and bytes at the target. 0 segments
/// for a pair that is not modelled.
struct AtomicShape {
  std::uint32_t operands = 0;
  std::uint32_t bytes = 0;
};
__device__ inline AtomicShape shape_of(wire::Opcode opcode, std::uint32_t opmod) {
  const bool masked = opcode == wire::Opcode::kMaskedFetchAdd || opcode == wire::Opcode::kMaskedCompareSwap;
  if (!masked) return {opmod == 0 ? 1u : 0u, 8};
  if (opmod == wire::kMasked4) return {1, 4};
  if (opmod == wire::kMasked8) return {opcode == wire::Opcode::kMaskedCompareSwap ? 2u : 1u, 8};
  return {};
}

__device__ inline Refusal decode_atomic(const Fetch& f, Wqe& wqe, const AtomicShape& shape) {
  if (wqe.ds != 3 + shape.operands) return kMalformed;
  wqe.action = Action::kAtomic;
  const Refusal local = add_data(f, wqe, 2 + shape.operands, kLocalWrite);
  if (local.syndrome != wire::Syndrome::kNone) return local;
  return wqe.bytes == shape.bytes ? find_remote(f, wqe, kRemoteAtomic) : kMalformed;
}

__device__ inline Refusal decode_write(const Fetch& f, Wqe& wqe, std::uint32_t opmod) {
  if (wqe.ds < 2 || opmod != 0) return kMalformed;
  wqe.action = Action::kWrite;
  const Refusal local = add_data(f, wqe, 2, 0);
  return local.syndrome != wire::Syndrome::kNone ? local : find_remote(f, wqe, kRemoteWrite);
}

__device__ inline Refusal decode_write_imm(const Fetch& f, Wqe& wqe, std::uint32_t opmod, GpuCounters& counters) {
  const Refusal refusal = decode_write(f, wqe, opmod);
  if (refusal.syndrome != wire::Syndrome::kNone || f.peer.inbox != 0) return refusal;
  count(counters.unmodelled_receivers);
  return kRemoteOperation;
}

__device__ inline Refusal decode_body(const Fetch& f, Wqe& wqe, std::uint32_t opmod, GpuCounters& counters) {
  using wire::Opcode;
  const auto unmodelled = [&counters] {
    count(counters.unmodelled_opcodes);
    return kMalformed;
  };
  switch (wqe.opcode) {
    case Opcode::kNop:
      wqe.action = Action::kNop;
      return {};
    case Opcode::kWrite:
      return decode_write(f, wqe, opmod);
    case Opcode::kWriteImm:
      return decode_write_imm(f, wqe, opmod, counters);
    case Opcode::kRead: {
      if (wqe.ds < 2 || opmod != 0) return kMalformed;
      wqe.action = Action::kRead;
      const Refusal local = add_data(f, wqe, 2, kLocalWrite);
      return local.syndrome != wire::Syndrome::kNone ? local : find_remote(f, wqe, kRemoteRead);
    }
    case Opcode::kFetchAdd:
    case Opcode::kCompareSwap:
    case Opcode::kMaskedFetchAdd:
    case Opcode::kMaskedCompareSwap: {
      const AtomicShape shape = shape_of(wqe.opcode, opmod);
      return shape.operands == 0 ? unmodelled() : decode_atomic(f, wqe, shape);
    }
    default:
      return unmodelled();
  }
}

/// The control segment: true when its bytes are those of this index and queue. Else they are older than the doorbell.
__device__ inline bool is_fresh(const QueueEntry& queue, const uint4& ctrl, std::uint32_t index) {
  const bool right_index = ((swapped(ctrl.x) >> 8) & 0xffff) == (index & 0xffff);
  return right_index && swapped(ctrl.y) >> 8 == queue.qpn;
}

}  // namespace marrow::cx7::cuda
