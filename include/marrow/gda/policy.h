// SPDX-License-Identifier: Apache-2.0
// How a lane posts, as types: a kernel takes one policy type, however many axes come
// (docs/decisions/0001-policies-are-types.md). The axes are in axes.h, the orderings in recipe.h; check_policy.h
// refuses what makes no sense. Read at stop 2 of 9.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "marrow/gda/axes.h"
#include "marrow/gda/recipe.h"
#include "marrow/wire/dc.h"
#include "marrow/wire/wqe.h"

namespace marrow::gda {

/// Base of all policies: what a policy does not name keeps this.
struct Policy {
  static constexpr Ordering ordering = Ordering::kGpuFence;
  static constexpr Recipe custom_recipe = recipe_of(Ordering::kGpuFence);  // for Ordering::kCustom
  static constexpr Payload payload = Payload::kInline;
  static constexpr WqeStore wqe_store = WqeStore::kWide;
  static constexpr Batching batching = {};
  static constexpr Sharing sharing = Sharing::kExclusive;
  static constexpr Scope sharers = Scope::kGpu;  // who shares: lanes of one block (kBlock) or of one GPU
  static constexpr Publication publication = {};
  static constexpr Credit credit = Credit::kWait;
  static constexpr DoorbellSequence doorbell = DoorbellSequence::kRecord;
  static constexpr Placement placement = all_in(Mem::kLane);
  static constexpr Completion completion = {};
  static constexpr Transport transport = Transport::kRc;
  static constexpr Notify notify = Notify::kFetchAdd;
  static constexpr QueueMap queue_map = QueueMap::kCaller;
  static constexpr Residence residence = Residence::kRegisters;
  static constexpr Shape shape = {};
  static constexpr std::uint32_t max_inline_bytes = 28;  // 28: every WQE is one WQEBB; up to 220
};

template <class P>
concept PolicyType = std::derived_from<P, Policy> && requires {
  { P::name } -> std::convertible_to<std::string_view>;
};

template <PolicyType P>
MARROW_HD constexpr Recipe recipe_for() {
  if constexpr (P::ordering == Ordering::kCustom) return P::custom_recipe;
  return recipe_of(P::ordering == Ordering::kCustom ? Ordering::kNone : P::ordering);
}

/// Segments between control and remote address.
template <PolicyType P>
inline constexpr std::uint32_t kAvDs = P::transport == Transport::kRc          ? 0
                                       : P::transport == Transport::kDcCompact ? wire::kCompactAvDs
                                                                               : wire::kFullAvDs;
/// True where no WQE can be longer than a WQEBB, so that indices count WQEs.
template <PolicyType P>
inline constexpr bool kShortWqes = (P::transport == Transport::kRc) &&
                                   (P::max_inline_bytes <= wire::max_inline_write(1));

/// True where a submit may leave WQEs unrung.
template <PolicyType P>
inline constexpr bool kDefers = P::batching.when != PostWhen::kSubmit;

template <Ordering O>
struct Ordered : Policy {
  static constexpr Ordering ordering = O;
};

// Presets: the rows of the comparison. The names are axis values, column heads and JSON fields.
struct NoOrder : Ordered<Ordering::kNone> {
  static constexpr std::string_view name = "none";
};
struct GpuFence : Ordered<Ordering::kGpuFence> {
  static constexpr std::string_view name = "gpu-fence";
};
struct GpuFenceDbrec : Ordered<Ordering::kGpuFenceDbrec> {
  static constexpr std::string_view name = "gpu-fence-dbrec";
};
struct GpuReleaseStore : Ordered<Ordering::kGpuReleaseStore> {
  static constexpr std::string_view name = "gpu-release-store";
};
struct Threadfence : Ordered<Ordering::kThreadfence> {
  static constexpr std::string_view name = "threadfence";
};
struct SystemReleaseStore : Ordered<Ordering::kSystemReleaseStore> {
  static constexpr std::string_view name = "sys-release-store";
};
struct SystemFence : Ordered<Ordering::kSystemFence> {
  static constexpr std::string_view name = "sys-fence";
};

// Variations of any policy. The name stays: what varies is an axis of its own in every result.
template <class P>
struct Pointer : P {
  static constexpr Payload payload = Payload::kPointer;
};
template <class P, std::uint32_t Bytes>
struct Inline : P {
  static constexpr Payload payload = Payload::kInline;
  static constexpr std::uint32_t max_inline_bytes = Bytes;
};
template <class P, WqeStore W>
struct Stores : P {
  static constexpr WqeStore wqe_store = W;
};
template <class P, std::uint32_t N, PostWhen When = PostWhen::kSubmit>
struct Batch : P {
  static constexpr Batching batching{N, When};
};
template <class P>
struct SignalEvery : P {
  static constexpr Completion completion{Signal::kEvery, P::completion.find, P::completion.record, P::completion.quiet};
};
template <class P>
struct SignalSparse : P {
  static constexpr Completion completion{Signal::kSparse, P::completion.find, P::completion.record,
                                         P::completion.quiet};
};
/// For a shared queue whose ring CQ has an entry for each WQE.
template <class P>
struct OwnEntry : P {
  static constexpr Completion completion{Signal::kEvery, FindCqe::kEntry, P::completion.record, P::completion.quiet};
};
/// Tells the NIC of each consumed CQE.
template <class P>
struct Reporting : P {
  static constexpr Completion completion{P::completion.signal, P::completion.find, CqRecord::kConsumer,
                                         P::completion.quiet};
};
template <class P>
struct QuietAll : P {
  static constexpr Completion completion{P::completion.signal, P::completion.find, P::completion.record,
                                         QuietScope::kSet};
};
template <class P>
struct Locked : P {
  static constexpr Sharing sharing = Sharing::kLockPerWqe;
};
/// Slots handed off: with as few fences as T, L and the ordering allow.
template <class P, Turn T = Turn::kCompareSwap, PostLock L = PostLock::kLock>
struct Shared : P {
  static constexpr Sharing sharing = Sharing::kSlots;
  static constexpr bool kFenced = recipe_for<P>().before_doorbell != FenceKind::kNone;
  static constexpr bool kInTurn = L == PostLock::kTurn;
  static constexpr Publication publication{
      T, L, (kFenced && kInTurn) ? FenceKind::kNone : FenceKind::kGpu,
      kFenced && (kInTurn || T == Turn::kCompareSwap) ? FenceKind::kNone : FenceKind::kGpu};
};
/// For a queue that only one block uses.
constexpr FenceKind narrow(FenceKind kind) {
  return kind == FenceKind::kNone ? FenceKind::kNone : FenceKind::kBlock;
}
template <class P>
struct InBlock : P {
  static constexpr Scope sharers = Scope::kBlock;
  static constexpr Publication publication{P::publication.turn, P::publication.lock, narrow(P::publication.before),
                                           narrow(P::publication.after)};
};
template <class P, DoorbellSequence D>
struct Rings : P {
  static constexpr DoorbellSequence doorbell = D;
};
template <class P, Mem Queues, Mem Record = Queues>
struct Placed : P {
  static constexpr Placement placement{Queues, Queues, Record};
};
/// A host thread rings. The record is its to write, so it lies in host memory.
template <class P>
struct Forwarded : Rings<P, DoorbellSequence::kForwarded> {
  static constexpr Placement placement{P::placement.sq, P::placement.cq, Mem::kHost};
};
template <class P, Credit C>
struct Credited : P {
  static constexpr Credit credit = C;
};
template <class P, Transport T>
struct Via : P {
  static constexpr Transport transport = T;
};
template <class P, Notify N>
struct Notifies : P {
  static constexpr Notify notify = N;
};
template <class P, QueueMap M>
struct Mapped : P {
  static constexpr QueueMap queue_map = M;
};

/// For a kernel whose registers are its own (docs/enclosing.md).
template <class P>
struct Lean : P {
  static constexpr Residence residence = Residence::kMemory;
};

/// A list of types: at once an axis, its names and the instantiations behind them.
template <class... Ps>
struct List {
  static constexpr std::size_t size = sizeof...(Ps);

  template <class F>
  static constexpr void for_each(F&& f) {
    (f.template operator()<Ps>(), ...);
  }

  /// `f.template operator()<P>()` for the one policy of that name. False when there is none.
  template <class F>
  static constexpr bool visit(std::string_view name, F&& f) {
    return ((Ps::name == name ? (f.template operator()<Ps>(), true) : false) || ...);
  }
};

/// The rows of `ordering` and `ordering-litmus`; docs/adding-a-recipe.md adds one.
using OrderingPolicies =
    List<NoOrder, GpuFence, GpuFenceDbrec, GpuReleaseStore, Threadfence, SystemReleaseStore, SystemFence>;
static_assert(OrderingPolicies::size >= kOrderings, "marrow: each ordering of recipe.h is a row of the comparison");

}  // namespace marrow::gda
