// SPDX-License-Identifier: Apache-2.0
// The far side of a write with immediate, a part of stops 7 and 8 on the GPU: it takes a receive of the queue pair at
// the other end and tells that one with a CQE of its own. It goes alone, behind everything before it.
// Facts: receive record and CQE of an immediate [dv]; a receiver that is not ready [prm: IBA vol. 1, 9.7.5.2.8].
#pragma once

#include "cx7/cuda/complete.cuh"
#include "cx7/cuda/fetch.cuh"

namespace marrow::cx7::cuda {

/// What a round may do: a bit for each lane that holds a WQE.
struct Verdict {
  std::uint32_t heads = 0;
  std::uint32_t refused = 0;
  std::uint32_t good = 0;  // before the first refused
};

/// Cuts the round where a write with immediate begins, or behind it where it is the first: then true. `whole`: WQEBBs
/// of the round. All lanes call.
__device__ inline bool isolate_notice(const Wqe& wqe, std::uint32_t& whole, Verdict& verdict) {
  const std::uint32_t notices = __ballot_sync(~0u, wqe.opcode == wire::Opcode::kWriteImm) & verdict.good;
  if (notices == 0) return false;
  const auto first = static_cast<std::uint32_t>(__ffs(static_cast<int>(notices))) - 1;
  whole = first != 0 ? first : __shfl_sync(~0u, wqe.wqebbs, 0);
  const std::uint32_t kept = (1u << whole) - 1;
  verdict = {verdict.heads & kept, verdict.refused & kept, verdict.good & kept};
  return first == 0;
}

/// An inbox, and what stood in it at the last look. All lanes know the same.
struct OpenInbox {
  Inbox* at = nullptr;
  Inbox now;
};
__device__ inline OpenInbox open_inbox(Tables& tables, std::uint32_t number) {
  OpenInbox open{.at = &tables.inboxes[number]};
  const auto* const from = reinterpret_cast<const std::byte*>(open.at);
  auto* const to = reinterpret_cast<uint4*>(&open.now);
#pragma unroll
  for (std::uint32_t k = 0; k < sizeof(Inbox) / 16; ++k) to[k] = load128(from + 16 * k);
  return open;
}

enum class Receiver : std::uint8_t { kReady, kNotReady, kGivenUp };

/// Whether a receive is posted. All lanes call and know the same.
__device__ inline Receiver ask_receiver(const QueueEntry& queue, const OpenInbox& inbox, GpuCounters& counters) {
  const bool first = threadIdx.x % kLanes == 0;
  const std::uint32_t recorded = __shfl_sync(~0u, swapped(load32(inbox.now.dbrec_recv)), 0);
  const std::uint64_t now = __shfl_sync(~0u, now_ns(), 0);
  const std::uint64_t since = inbox.now.rnr_since_ns;
  if (((recorded - inbox.now.taken) & 0xffff) != 0) {
    if (first && since != 0) store64(&inbox.at->rnr_since_ns, 0);
    return Receiver::kReady;
  }
  if (first && since == 0) {
    store64(&inbox.at->rnr_since_ns, now);
    count(counters.rnr_naks_sent);
  }
  const bool for_ever = since == 0 || queue.rnr_tries == ~0u;
  const std::uint64_t patience_ns = std::uint64_t{inbox.now.rnr_pause_us} * 1000 * (queue.rnr_tries + 1);
  return for_ever || now - since <= patience_ns ? Receiver::kNotReady : Receiver::kGivenUp;
}

/// The receive's CQE, behind everything that the warp has stored. `imm` as in the WQE. All lanes call.
__device__ inline void tell_receiver(const OpenInbox& inbox, const Wqe& wqe, std::uint32_t imm,
                                     std::uint64_t timestamp) {
  fence(false);
  if (threadIdx.x % kLanes == 0) {
    const Content content{
        .opcode = wire::CqeOpcode::kRecvWriteImm, .wqe_counter = inbox.now.taken, .bytes = wqe.bytes, .imm = imm};
    const std::uint64_t pi = atomicAdd(inbox.now.cqes, 1ull);
    store_body(inbox.now, pi, content, timestamp);
    fence_of_lane(false);
    store_tail(inbox.now, pi, content);
    store32(&inbox.at->taken, inbox.now.taken + 1);
  }
  __syncwarp();
}

}  // namespace marrow::cx7::cuda
