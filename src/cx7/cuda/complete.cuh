// SPDX-License-Identifier: Apache-2.0
// Stop 8 of 9 on the GPU: CQEs. Their bodies go out together with the payload; one fence stands behind both; then the
// words with the owner bits. The first 32 bytes of an entry carry nothing and are left as they are.
// Facts: CQE layout [dv]; collapsed CQs [prm: CQC]; flush after an error [obs: CX-6].
#pragma once

#include "cx7/cuda/fetch.cuh"

namespace marrow::cx7::cuda {

/// What a CQE says.
struct Content {
  wire::CqeOpcode opcode = wire::CqeOpcode::kRequester;
  wire::Opcode wqe_opcode{};
  std::uint32_t wqe_counter = 0;
  std::uint32_t bytes = 0;
  Refusal refusal = {};
  std::uint32_t imm = 0;  // as in memory
};

/// `Queue`: QueueEntry for its send CQ, Inbox for a receive CQ.
template <class Queue>
__device__ inline std::byte* entry_at(const Queue& queue, std::uint64_t pi) {
  const std::uint64_t slot = queue.cq_collapsed != 0 ? 0 : pi & ((std::uint64_t{1} << queue.cq_log) - 1);
  return queue.cq + slot * queue.cqe_bytes + (queue.cqe_bytes - wire::kCqeBytes);
}

template <class Queue>
__device__ inline void store_body(const Queue& queue, std::uint64_t pi, const Content& content,
                                  std::uint64_t timestamp) {
  std::byte* const entry = entry_at(queue, pi);
  store128(entry + 32, {swapped(queue.user_index & 0xffffff), content.imm, 0, swapped(content.bytes)});
  // An error has its four bytes where a success has the second half of its timestamp.
  const bool error = content.refusal.syndrome != wire::Syndrome::kNone;
  const std::uint32_t bytes52 =
      std::uint32_t{content.refusal.vendor} << 16 | static_cast<std::uint32_t>(content.refusal.syndrome) << 24;
  store32(entry + 48, error ? 0 : swapped(static_cast<std::uint32_t>(timestamp >> 32)));
  store32(entry + 52, error ? bytes52 : swapped(static_cast<std::uint32_t>(timestamp)));
  store32(entry + 56, swapped(static_cast<std::uint32_t>(content.wqe_opcode) << 24 | queue.qpn));
}

/// Bytes 60 to 63 in one store: from now on the application may see the entry.
template <class Queue>
__device__ inline void store_tail(const Queue& queue, std::uint64_t pi, const Content& content) {
  const std::uint32_t counter = content.wqe_counter;
  const std::uint32_t owner = wire::op_own_byte(content.opcode, pi >> queue.cq_log);
  store32(entry_at(queue, pi) + 60, owner << 24 | (counter & 0xff) << 8 | (counter >> 8 & 0xff));
}

__device__ inline Content success(const Wqe& wqe) {
  return {.wqe_opcode = wqe.opcode, .wqe_counter = wqe.index, .bytes = wqe.bytes};
}

/// What all lanes know of a queue whose turn it is; its own lane takes it back afterwards.
struct Turn {
  std::uint32_t posted = 0;
  std::uint32_t next = 0;
  std::uint32_t named = 0;
  std::uint32_t failed = 0;
  std::uint64_t cqes = 0;  // producer index of its CQ
  std::uint64_t absent_since_ns = 0;
  std::uint64_t clock_ns = 0;
  bool met_stale = false;   // the express way saw WQE `stale` older than its doorbell
  std::uint32_t stale = 0;  // by now its bytes may have come
  std::uint32_t wqes_done = 0;
  std::uint32_t aimed = 0;
};

/// CQEs of those in `done` that asked for one, behind everything that the warp has stored. All lanes call; `near` as
/// for fence().
__device__ inline void complete(const QueueEntry& queue, const Wqe& wqe, std::uint32_t done, bool near, Turn& turn) {
  const std::uint32_t lane = threadIdx.x % kLanes;
  const std::uint32_t signalled = __ballot_sync(~0u, wqe.signalled) & done;
  const bool last = signalled >> lane == 1;
  const bool writes = (signalled >> lane & 1) != 0 && (queue.cq_collapsed == 0 || last);
  const std::uint64_t pi = turn.cqes + static_cast<std::uint32_t>(__popc(signalled & ((1u << lane) - 1)));
  if (writes) store_body(queue, pi, success(wqe), turn.clock_ns);
  fence(near);
  if (writes) store_tail(queue, pi, success(wqe));
  turn.cqes += static_cast<std::uint32_t>(__popc(signalled));
}

/// One error CQE. All lanes call.
__device__ inline void complete_with_error(const QueueEntry& queue, const Content& content, Turn& turn) {
  const bool first = threadIdx.x % kLanes == 0;
  if (first) store_body(queue, turn.cqes, content, turn.clock_ns);
  fence(queue.near_only != 0);
  if (first) store_tail(queue, turn.cqes, content);
  ++turn.cqes;
}

inline constexpr std::uint8_t kFlushedBehindError = 0xf9;

/// Flush CQEs for everything that the record announces. All lanes call.
__device__ __forceinline__ void flush(const QueueEntry& queue, Turn& turn) {
  const std::int32_t left = distance16(swapped(load32(queue.dbrec_send)), turn.next);
  turn.failed = 1;
  if (left <= 0 || static_cast<std::uint32_t>(left) > queue.sq_mask + 1) return;
  const std::uint32_t end = turn.next + static_cast<std::uint32_t>(left);
  while (turn.next != end) {
    const uint4 ctrl = load128(segment_at(queue, turn.next, 0));
    complete_with_error(queue,
                        {.opcode = wire::CqeOpcode::kRequesterError,
                         .wqe_opcode = static_cast<wire::Opcode>(swapped(ctrl.x) & 0xff),
                         .wqe_counter = turn.next,
                         .refusal = {wire::Syndrome::kFlushed, kFlushedBehindError}},
                        turn);
    const std::uint32_t wqebbs = wire::wqebbs_of(swapped(ctrl.y) & 0x3f);
    turn.next += min(max(wqebbs, 1u), end - turn.next);
  }
}

}  // namespace marrow::cx7::cuda
