// SPDX-License-Identifier: Apache-2.0
// Not compiled by the build: must_not_compile.py does, once for each case.
#include "marrow/gda/queue_set.h"

using namespace marrow::gda;

template <Ordering O, Mem M, std::uint32_t InlineBytes = 28, std::uint32_t N = 0>
struct Pair : Policy {
  static constexpr std::string_view name = "pair";
  static constexpr Ordering ordering = O;
  static constexpr Placement placement = all_in(M);
  static constexpr std::uint32_t max_inline_bytes = InlineBytes;
  static constexpr Batching batching{N};
};
struct OnlyTheCqFarAway : Pair<Ordering::kThreadfence, Mem::kGpu> {
  static constexpr Placement placement{Mem::kGpu, Mem::kHost, Mem::kGpu};
};
struct Nameless : Policy {};

// What must compile, so that the refusals below refuse for their reason alone.
static_assert(CheckPolicy<Pair<Ordering::kSystemFence, Mem::kHost>, Lane::kGpu>::ok);
static_assert(CheckPolicy<Pair<Ordering::kSystemReleaseStore, Mem::kHost>, Lane::kGpu>::ok);
static_assert(CheckPolicy<Pair<Ordering::kGpuFence, Mem::kHost>, Lane::kHost>::ok);
static_assert(CheckPolicy<Pair<Ordering::kGpuFence, Mem::kGpu, 220, 256>, Lane::kGpu>::ok);
using Good = SendQueue<Pair<Ordering::kGpuFence, Mem::kLane>>;
using Base = Pair<Ordering::kGpuFence, Mem::kGpu>;
using Slotted = Shared<Base>;
static_assert(CheckPolicy<Lean<Base>, Lane::kGpu>::ok);
static_assert(CheckPolicy<Locked<Base>, Lane::kGpu>::ok && CheckPolicy<Slotted, Lane::kGpu>::ok);
static_assert(CheckPolicy<Shared<Base, Turn::kReadyIndex, PostLock::kTurn>, Lane::kGpu>::ok);
static_assert(CheckPolicy<InBlock<Slotted>, Lane::kGpu>::ok && CheckPolicy<Forwarded<Slotted>, Lane::kGpu>::ok);
static_assert(CheckPolicy<Batch<Slotted, 32, PostWhen::kBoundaryOrIdle>, Lane::kGpu>::ok);
static_assert(CheckPolicy<OwnEntry<Slotted>, Lane::kGpu>::ok &&
              CheckPolicy<Credited<Slotted, Credit::kNone>, Lane::kGpu>::ok);
static_assert(CheckPolicy<Via<Inline<Base, 172>, Transport::kDcFull>, Lane::kGpu>::ok);
template <FenceKind Before, FenceKind After, class P>
struct Fenced : P {
  static constexpr Publication publication{P::publication.turn, P::publication.lock, Before, After};
};
struct OfNobody : Base {
  static constexpr Scope sharers = Scope::kBlock;
};
struct NeverSignalled : Base {
  static constexpr Completion completion{Signal::kNever};
};
struct EntryAlone : Base {
  static constexpr Completion completion{Signal::kEvery, FindCqe::kEntry};
};

#if MARROW_CASE == 1
// CASE 1: a GPU-scope ordering does not reach queues in host memory
static_assert(CheckPolicy<Pair<Ordering::kGpuFence, Mem::kHost>, Lane::kGpu>::ok);
#elif MARROW_CASE == 2
// CASE 2: a GPU-scope ordering does not reach queues in host memory
static_assert(CheckPolicy<OnlyTheCqFarAway, Lane::kGpu>::ok);
#elif MARROW_CASE == 3
// CASE 3: a host lane cannot post to queues in GPU memory
void post(const Qp& qp) {
  SendQueue<Pair<Ordering::kSystemFence, Mem::kGpu>> sq{qp};
}
#elif MARROW_CASE == 4
// CASE 4: an inline payload has at most 220 bytes
void post(const Qp& qp) {
  SendQueue<Pair<Ordering::kGpuFence, Mem::kLane, 221>> sq{qp};
}
#elif MARROW_CASE == 5
// CASE 5: inline payload needs max_inline_bytes above 0
void post(const Qp& qp) {
  SendQueue<Pair<Ordering::kGpuFence, Mem::kLane, 0>> sq{qp};
}
#elif MARROW_CASE == 6
// CASE 6: a doorbell announces 1 to 256 WQEs
void post(const Qp& qp) {
  SendQueue<Pair<Ordering::kGpuFence, Mem::kLane, 28, 257>> sq{qp};
}
#elif MARROW_CASE == 7
// CASE 7: constraints not satisfied
void post(const Qp& qp) {
  SendQueue<Nameless> sq{qp};
}
#elif MARROW_CASE == 8
// CASE 8: Remote
void post(Good& sq, const Slot& slot, Local row, Remote peer) {
  sq.write(slot, {.to = row, .from = peer, .bytes = 8});
}
#elif MARROW_CASE == 9
// CASE 9: nodiscard
void post(Good& sq, const Ticket& ticket) {
  sq.wait(Solo{}, ticket);
}
#elif MARROW_CASE == 10
// CASE 10: nodiscard
void post(Good& sq, const Slots& slots) {
  sq.submit(Solo{}, slots);
}
#elif MARROW_CASE == 11
// CASE 11: deleted
Good twice(const Good& sq) {
  return sq;
}
#elif MARROW_CASE == 12
// CASE 12: the doorbell cannot be put off
static_assert(CheckAxes<Batch<Locked<Base>, 32, PostWhen::kBoundary>>::ok);
#elif MARROW_CASE == 13
// CASE 13: rung in the team's turn cannot be put off
static_assert(CheckAxes<Batch<Shared<Base, Turn::kReadyIndex, PostLock::kTurn>, 0, PostWhen::kCaller>>::ok);
#elif MARROW_CASE == 14
// CASE 14: without a lock two records may pass each other
static_assert(CheckAxes<Shared<Base, Turn::kCompareSwap, PostLock::kNone>>::ok);
#elif MARROW_CASE == 15
// CASE 15: must see their WQEs
static_assert(CheckAxes<Fenced<FenceKind::kNone, FenceKind::kGpu, Slotted>>::ok);
#elif MARROW_CASE == 16
// CASE 16: Publication::after can only be kNone
static_assert(CheckAxes<Fenced<FenceKind::kGpu, FenceKind::kNone, Shared<Base, Turn::kReadyIndex>>>::ok);
#elif MARROW_CASE == 17
// CASE 17: Publication::after can only be kNone
static_assert(CheckAxes<Rings<Slotted, DoorbellSequence::kEarlyUnfenced>>::ok);
#elif MARROW_CASE == 18
// CASE 18: an exclusive queue by nobody
static_assert(CheckAxes<OfNobody>::ok);
#elif MARROW_CASE == 19
// CASE 19: does not reach lanes of other blocks
static_assert(CheckAxes<Fenced<FenceKind::kBlock, FenceKind::kBlock, Slotted>>::ok);
#elif MARROW_CASE == 20
// CASE 20: every WQE must be one WQEBB
static_assert(CheckAxes<Credited<Inline<Slotted, 92>, Credit::kNone>>::ok);
#elif MARROW_CASE == 21
// CASE 21: never gets its room back
static_assert(CheckAxes<NeverSignalled>::ok);
#elif MARROW_CASE == 22
// CASE 22: a CQE at the WQE's own entry
static_assert(CheckAxes<EntryAlone>::ok);
#elif MARROW_CASE == 23
// CASE 23: at most 172 bytes
static_assert(CheckAxes<Via<Inline<Base, 173>, Transport::kDcFull>>::ok);
#elif MARROW_CASE == 24
// CASE 24: at most 204 bytes
static_assert(CheckAxes<Via<Inline<Base, 205>, Transport::kDcCompact>>::ok);
#elif MARROW_CASE == 25
// CASE 25: needs wqes_per_doorbell above 0
static_assert(CheckAxes<Batch<Slotted, 0, PostWhen::kBoundary>>::ok);
#elif MARROW_CASE == 26
// CASE 26: place dbrec in host memory
static_assert(CheckPolicy<Rings<Base, DoorbellSequence::kForwarded>, Lane::kGpu>::ok);
#elif MARROW_CASE == 27
// CASE 27: aim() is for a DC policy
void post(Good& sq, const marrow::wire::AddressVector& target) {
  sq.aim(target);
}
#elif MARROW_CASE == 28
// CASE 28: an 8-byte masked swap takes two WQEBBs
void post(Good& sq, const Slot& slot) {
  sq.masked_swap8(slot, {});
}
#elif MARROW_CASE == 29
// CASE 29: Lean<P> is for an exclusive queue
static_assert(CheckAxes<Lean<Slotted>>::ok);
#elif MARROW_CASE == 30
// CASE 30: deleted
Qp made();
SendQueue<Lean<Base>> of_a_handle_that_ends() {
  return SendQueue<Lean<Base>>(made());
}
#endif
