// SPDX-License-Identifier: Apache-2.0
// One queue pair's turn: a warp takes up to 32 posted WQEBBs through stops 6, 7 and 8.
#pragma once

#include "cx7/cuda/complete.cuh"
#include "cx7/cuda/dc.cuh"
#include "cx7/cuda/execute.cuh"
#include "cx7/cuda/notify.cuh"

namespace marrow::cx7::cuda {

inline constexpr std::uint64_t kStalePatienceNs = 100'000;  // lenient: how long older bytes are given to change

/// What a warp works with during a shift.
struct Warp {
  Tables& tables;
  const QueueEntry* queues;  // its 32, in shared memory
  bool strict;
};

/// The first block of each of the `n` WQEBBs from `next` on, one a lane; then which lanes hold the start of a WQE.
/// Returns how many WQEBBs the whole WQEs among them take.
__device__ inline std::uint32_t fetch_blocks(const QueueEntry& queue, std::uint32_t next, std::uint32_t n, Wqe& wqe,
                                             uint4& ctrl) {
  const std::uint32_t lane = threadIdx.x % kLanes;
  wqe.index = next + lane;
  if (lane < n) {
    const std::byte* const block = segment_at(queue, wqe.index, 0);
    ctrl = load128(block);
    for (std::uint32_t k = 0; k < 3; ++k) wqe.segment[k] = load128(block + (k + 1) * wire::kDsBytes);
  }
  const std::uint32_t ds = swapped(ctrl.y) & 0x3f;
  const std::uint32_t size = max(wire::wqebbs_of(ds), 1u);
  std::uint32_t end = 0;
  if (__all_sync(~0u, lane >= n || size == 1)) {
    if (lane < n) wqe.wqebbs = 1;
    end = n;
  } else {
    while (end < n) {
      const std::uint32_t there = __shfl_sync(~0u, size, end);
      if (end + there > n && end != 0) break;  // its rest comes with the next round
      if (lane == end) wqe.wqebbs = there;
      end += there;
    }
  }
  wqe.ds = ds;
  return end;
}

/// Bytes older than their doorbell. Strict: an error, as a NIC would execute whatever stood there; lenient: counted,
/// and waited for. Where the doorbell itself was overwritten by a neighbour's, the record may be ahead of the bytes
/// rightfully, for their fence may stand behind it: then they are waited for, and nothing is wrong.
__device__ inline void check_fresh(const Warp& warp, const QueueEntry& queue, const Turn& turn, Wqe& wqe, uint4& ctrl) {
  const bool was_stale = turn.met_stale && turn.stale == wqe.index;
  if (is_fresh(queue, ctrl, wqe.index) && !was_stale) return;
  const bool announced = static_cast<std::int32_t>(turn.named - wqe.index) > 0;
  if (announced) count(warp.tables.counters[queue.device].strict_stale_wqe_index);
  const bool waits = !warp.strict || !announced;
  const std::uint64_t start = now_ns();
  const std::byte* const block = segment_at(queue, wqe.index, 0);
  while (waits && !is_fresh(queue, ctrl, wqe.index) && now_ns() - start < kStalePatienceNs) ctrl = load128(block);
  if (!waits || !is_fresh(queue, ctrl, wqe.index)) {
    wqe.refusal = kMalformed;
    return;
  }
  for (std::uint32_t k = 0; k < 3; ++k) wqe.segment[k] = load128(block + (k + 1) * wire::kDsBytes);
  wqe.ds = swapped(ctrl.y) & 0x3f;
}

/// Signature, DCI stream and the two bits without a meaning must be 0.
__device__ inline bool has_reserved_bits(const uint4& ctrl) {
  constexpr std::uint32_t kReservedFlags = 0xffffff00u | 0x11u;
  return (swapped(ctrl.y) & 0xc0) != 0 || (swapped(ctrl.z) & kReservedFlags) != 0;
}

__device__ __forceinline__ void decode(const Warp& warp, const Fetch& f, const Turn& turn, Wqe& wqe, uint4& ctrl) {
  GpuCounters& counters = warp.tables.counters[f.queue.device];
  const std::uint32_t whole = min(turn.posted - turn.next, kLanes);
  if (wqe.wqebbs == 0) return;
  if (f.queue.dc_lids == 0) check_fresh(warp, f.queue, turn, wqe, ctrl);  // a DCI's: dc.cuh
  wqe.opcode = static_cast<wire::Opcode>(swapped(ctrl.x) & 0xff);
  wqe.signalled = (swapped(ctrl.z) >> 2 & 3) >= static_cast<std::uint32_t>(wire::Completion::kAlways);
  if (wqe.refusal.syndrome != wire::Syndrome::kNone) return;
  if (has_reserved_bits(ctrl)) {
    count(counters.strict_wqe_reserved_bits);
    if (warp.strict) wqe.refusal = kMalformed;
  }
  const std::uint32_t lane = threadIdx.x % kLanes;
  if (wqe.ds == 0 || lane + wqe.wqebbs > whole || wqe.wqebbs > f.queue.sq_mask + 1) wqe.refusal = kMalformed;
  if (wqe.refusal.syndrome == wire::Syndrome::kNone) {
    wqe.refusal = decode_body(f, wqe, swapped(ctrl.x) >> 24, counters);
  }
}

enum class Peer : std::uint8_t { kThere, kWaitedFor, kGivenUp };

/// What a round works on and with.
struct Batch {
  std::uint32_t whole = 0;  // WQEBBs of whole WQEs
  const Side* far = nullptr;
  PeerEntry peer;
};

/// A peer's entry on its way: looked at only when the WQEs have come too.
struct PeerWords {
  uint4 a;
  uint4 b;
};
__device__ inline PeerWords ask_for_peer(const QueueEntry& queue) {
  const auto* const entry = reinterpret_cast<const std::byte*>(&queue.far->peers[queue.remote_qpn & 0xffff]);
  return {load128(entry), load128(entry + 16)};
}

/// What an absent peer means by now.
__device__ inline Peer wait_for_peer(const QueueEntry& queue, Turn& turn) {
  const std::uint64_t now = __shfl_sync(~0u, now_ns(), 0);
  if (turn.absent_since_ns == 0) turn.absent_since_ns = now;
  return now - turn.absent_since_ns > std::uint64_t{queue.retry_us} * 1000 ? Peer::kGivenUp : Peer::kWaitedFor;
}

__device__ inline Peer judge_peer(const QueueEntry& queue, const PeerWords& words, PeerEntry& peer, Turn& turn) {
  peer = {.qpn = words.a.x, .remote_qpn = words.a.y, .pdn = words.a.z, .access = words.a.w, .inbox = words.b.y};
  const bool receives = (words.b.x & 0xff) != 0 && (words.b.x >> 8 & 0xff) == queue.device;
  if (receives && queue.remote_device < kDevices && peer.qpn == queue.remote_qpn && peer.remote_qpn == queue.qpn) {
    turn.absent_since_ns = 0;
    return Peer::kThere;
  }
  return wait_for_peer(queue, turn);
}

/// The same for a DCI: cuts the round to one destination, and looks whether that is there.
__device__ inline Peer judge_aim(const Warp& warp, const QueueEntry& queue, Wqe& wqe, uint4& ctrl, Batch& batch,
                                 Turn& turn) {
  GpuCounters& counters = warp.tables.counters[queue.device];
  uint4 av{};
  if (wqe.wqebbs != 0) {
    check_fresh(warp, queue, turn, wqe, ctrl);
    const bool nop = static_cast<wire::Opcode>(swapped(ctrl.x) & 0xff) == wire::Opcode::kNop;
    if (!nop && wqe.refusal.syndrome == wire::Syndrome::kNone) take_av(queue, wqe, av, warp.strict, counters);
  }
  Aim aim;
  bool keyed = false;
  batch.whole = keep_one_aim(queue, av, batch.whole, wqe, aim);
  const bool there = find_dct(warp.tables, aim, batch.peer, keyed);
  batch.far = &warp.tables.sides[aim.device & 1];
  const bool first = threadIdx.x % kLanes == 0;
  if (!there) {
    if (!keyed && first && turn.absent_since_ns == 0) count(counters.dc_key_violations);
    return wait_for_peer(queue, turn);
  }
  turn.absent_since_ns = 0;
  if (!aim.none && turn.aimed != aim.mark()) {
    turn.aimed = aim.mark();
    if (first) count(counters.dc_connects);
  }
  return Peer::kThere;
}

/// The error CQE of what `lane` holds, and the end of the queue.
__device__ __forceinline__ void fail(const QueueEntry& queue, const Wqe& wqe, std::uint32_t lane, Turn& turn) {
  Content content{.opcode = wire::CqeOpcode::kRequesterError};
  content.wqe_opcode = static_cast<wire::Opcode>(__shfl_sync(~0u, static_cast<unsigned>(wqe.opcode), lane));
  content.refusal.syndrome =
      static_cast<wire::Syndrome>(__shfl_sync(~0u, static_cast<unsigned>(wqe.refusal.syndrome), lane));
  content.refusal.vendor = static_cast<std::uint8_t>(__shfl_sync(~0u, static_cast<unsigned>(wqe.refusal.vendor), lane));
  content.wqe_counter = turn.next + lane;
  const std::uint32_t size = __shfl_sync(~0u, wqe.wqebbs, lane);
  complete_with_error(queue, content, turn);
  turn.next = content.wqe_counter + min(size, turn.posted - content.wqe_counter);
  flush(queue, turn);
}

__device__ inline Verdict judge(const Wqe& wqe) {
  const std::uint32_t heads = __ballot_sync(~0u, wqe.wqebbs != 0);
  const std::uint32_t refused = __ballot_sync(~0u, wqe.refusal.syndrome != wire::Syndrome::kNone) & heads;
  return {heads, refused, refused == 0 ? heads : heads & ((refused & -refused) - 1)};
}

/// Executes what was posted, at most 32 WQEBBs. All lanes call with the same `turn`.
__device__ __forceinline__ void serve(const Warp& warp, const QueueEntry& queue, Turn& turn) {
  GpuCounters& counters = warp.tables.counters[queue.device];
  const std::uint32_t n = min(turn.posted - turn.next, kLanes);
  Wqe wqe;
  uint4 ctrl{};
  Batch batch{.far = queue.far};
  const PeerWords words = ask_for_peer(queue);
  batch.whole = fetch_blocks(queue, turn.next, n, wqe, ctrl);
  const Peer state =
      queue.dc_lids == 0 ? judge_peer(queue, words, batch.peer, turn) : judge_aim(warp, queue, wqe, ctrl, batch, turn);
  if (state == Peer::kWaitedFor) return;
  if (state == Peer::kThere) {
    decode(warp, {warp.tables, queue, batch.peer, *batch.far}, turn, wqe, ctrl);
  } else if (wqe.wqebbs != 0) {
    count(counters.timeouts);
    wqe.refusal = {wire::Syndrome::kRetryExceeded, 0x81};
    wqe.opcode = static_cast<wire::Opcode>(swapped(ctrl.x) & 0xff);
  }
  Verdict verdict = judge(wqe);
  OpenInbox inbox;
  const bool notifies = isolate_notice(wqe, batch.whole, verdict);
  if (notifies) {
    inbox = open_inbox(warp.tables, batch.peer.inbox);
    const Receiver receiver = ask_receiver(queue, inbox, counters);
    if (receiver == Receiver::kNotReady) return;
    if (receiver == Receiver::kGivenUp) {
      wqe.refusal = {wire::Syndrome::kRnrRetryExceeded, 0x87};
      verdict = {.heads = 1, .refused = 1};
    }
  }
  const bool near = queue.near_only != 0 && !__any_sync(~0u, wqe.far);
  execute({warp.tables, queue, batch.peer, *batch.far}, wqe, verdict.good, near);
  if (notifies && verdict.good != 0) tell_receiver(inbox, wqe, ctrl.w, turn.clock_ns);
  complete(queue, wqe, verdict.good, near, turn);
  turn.wqes_done += static_cast<std::uint32_t>(__popc(verdict.heads));
  if (static_cast<std::int32_t>(turn.next + batch.whole - turn.stale) > 0) turn.met_stale = false;
  if (verdict.refused == 0) {
    turn.next += batch.whole;
    return;
  }
  if (wqe.refusal.syndrome == wire::Syndrome::kLocalProtection) count(counters.local_protection_errors);
  fail(queue, wqe, static_cast<std::uint32_t>(__ffs(static_cast<int>(verdict.refused))) - 1, turn);
}

}  // namespace marrow::cx7::cuda
