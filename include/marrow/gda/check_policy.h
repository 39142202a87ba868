// SPDX-License-Identifier: Apache-2.0
// What no lane may be asked for, one sentence each: the compiler prints it. The sentences are part of the interface;
// tests/gda looks for them. Read at stop 2 of 9.
#pragma once

#include "marrow/gda/policy.h"

namespace marrow::gda {

enum class Lane : std::uint8_t { kHost, kGpu, kUnknown };

/// What the lane itself stores to or polls: a forwarded record is the host thread's.
template <PolicyType P>
constexpr bool lane_uses_host_memory() {
  constexpr bool record = P::placement.dbrec == Mem::kHost && P::doorbell != DoorbellSequence::kForwarded;
  return P::placement.sq == Mem::kHost || P::placement.cq == Mem::kHost || record;
}

/// True where the ordering's own fence before the doorbell joins what others made ready: it follows the turn, and
/// either the turn is an atomic, which keeps the chain of those before it, or nobody goes on without that fence.
template <PolicyType P>
constexpr bool joins_at_doorbell() {
  const FenceKind fence = recipe_for<P>().before_doorbell;
  const bool fenced = fence != FenceKind::kNone && fence != FenceKind::kGpuRelease;
  const bool chained = P::publication.turn == Turn::kCompareSwap || P::publication.lock == PostLock::kTurn;
  return fenced && chained && P::doorbell != DoorbellSequence::kEarlyUnfenced;
}

/// What one axis says of another.
template <PolicyType P>
struct CheckAxes {
  static constexpr bool kShared = P::sharing != Sharing::kExclusive;
  static constexpr bool kSlots = P::sharing == Sharing::kSlots;
  static constexpr bool kRecordless =
      P::doorbell == DoorbellSequence::kNoRecord || P::doorbell == DoorbellSequence::kForwarded;

  static_assert(P::payload != Payload::kInline || P::max_inline_bytes > 0,
                "marrow: inline payload needs max_inline_bytes above 0");
  static_assert(P::max_inline_bytes <= wire::max_inline_write(4),
                "marrow: an inline payload has at most 220 bytes, the room of a WQE of four WQEBBs");
  static_assert(P::batching.wqes_per_doorbell <= 256,
                "marrow: a doorbell announces 1 to 256 WQEs; 0 stands for the whole submit");
  static_assert(P::batching.when == PostWhen::kSubmit || P::batching.when == PostWhen::kCaller ||
                    P::batching.wqes_per_doorbell > 0,
                "marrow: ringing at a boundary needs wqes_per_doorbell above 0");
  static_assert(P::sharing != Sharing::kLockPerWqe || !kDefers<P>,
                "marrow: a lock per WQE is held until the doorbell, so the doorbell cannot be put off");
  static_assert(!kSlots || P::publication.lock != PostLock::kTurn || !kDefers<P>,
                "marrow: a doorbell that is rung in the team's turn cannot be put off; use PostLock::kLock");
  static_assert(!kSlots || P::publication.lock != PostLock::kNone || kRecordless,
                "marrow: without a lock two records may pass each other; use kNoRecord, kForwarded or a lock");
  static_assert(!kSlots || P::publication.before != FenceKind::kNone ||
                    (P::publication.lock == PostLock::kTurn && joins_at_doorbell<P>()),
                "marrow: a team that rings for others must see their WQEs; Publication::before can only be kNone with "
                "PostLock::kTurn and a fence before the doorbell");
  static_assert(
      !kSlots || P::publication.after != FenceKind::kNone || joins_at_doorbell<P>(),
      "marrow: Publication::after can only be kNone where an atomic or the doorbell follows the turn, behind a "
      "fence that acquires; use kGpu");
  static_assert(P::sharers == Scope::kGpu || (kShared && P::sharers == Scope::kBlock),
                "marrow: a queue is shared by lanes of one block or of one GPU; an exclusive queue by nobody");
  static_assert(P::sharers == Scope::kBlock ||
                    (P::publication.before != FenceKind::kBlock && P::publication.after != FenceKind::kBlock),
                "marrow: a block-scope fence does not reach lanes of other blocks; use InBlock for one block's queue");
  static_assert(P::residence == Residence::kRegisters || !kShared,
                "marrow: the indices of a shared queue rest in memory as it is; Lean<P> is for an exclusive queue");
  static_assert(P::credit != Credit::kNone || kShortWqes<P>,
                "marrow: without a credit check every WQE must be one WQEBB: RC and max_inline_bytes of 28 at most");
  static_assert(P::completion.signal != Signal::kNever,
                "marrow: a policy without any CQE never gets its room back; use Signal::kSparse");
  static_assert(P::completion.find != FindCqe::kEntry ||
                    (kShared && kShortWqes<P> && P::completion.signal == Signal::kEvery),
                "marrow: a CQE at the WQE's own entry needs a shared queue, Signal::kEvery and WQEs of one WQEBB");
  static_assert(P::transport != Transport::kDcFull || P::payload != Payload::kInline || P::max_inline_bytes <= 172,
                "marrow: with a full address vector an inline payload has at most 172 bytes");
  static_assert(P::transport != Transport::kDcCompact || P::payload != Payload::kInline || P::max_inline_bytes <= 204,
                "marrow: with a compact address vector an inline payload has at most 204 bytes");
  static constexpr bool ok = true;
};

/// Instantiated by each SendQueue.
template <PolicyType P, Lane L>
struct CheckPolicy {
  static_assert(L != Lane::kGpu || !lane_uses_host_memory<P>() || recipe_for<P>().poll == Scope::kSystem,
                "marrow: a GPU-scope ordering does not reach queues in host memory; use kSystemFence or "
                "kSystemReleaseStore, or place SQ, CQ and dbrec in GPU memory");
  static_assert(L != Lane::kHost || !P::placement.uses(Mem::kGpu),
                "marrow: a host lane cannot post to queues in GPU memory; place SQ, CQ and dbrec in host memory");
  static_assert(L != Lane::kGpu || P::doorbell != DoorbellSequence::kForwarded || P::placement.dbrec == Mem::kHost,
                "marrow: a forwarded doorbell's record is written by a host thread; place dbrec in host memory");
  static constexpr bool ok = CheckAxes<P>::ok;
};

}  // namespace marrow::gda
