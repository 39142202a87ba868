// SPDX-License-Identifier: Apache-2.0
// How a lane posts, as types: one enumerator a choice, each with what it promises and what it costs. A kernel takes
// one policy type, however many axes come (docs/decisions/0001-policies-are-types.md).
// Read at stop 2 of 9. Facts: the recipes are what GPU libraries use [obs: their sources]; that GPU scope is enough for
// queues in that GPU's own memory is a machine-level argument, promised by nobody [guess].
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "marrow/wire/wqe.h"

namespace marrow::gda {

/// The seven recipes that are compared (recipe_of() has each, step by step). "Safe" means: the NIC cannot fetch
/// bytes older than the doorbell announces. Costs fall on the posting lane; on a GPU they grow downwards.
enum class Ordering : std::uint8_t {
  kNone,                // promises nothing: the control that shows what the others cost
  kGpuFence,            // safe for queues in this GPU's memory; one GPU-scope fence before the doorbell
  kGpuFenceDbrec,       // also orders WQEs before the dbrec, for a NIC that fetches by dbrec; two GPU-scope fences
  kGpuReleaseStore,     // safe for queues in this GPU's memory; dbrec and doorbell are release stores, no fence
  kThreadfence,         // as kGpuFenceDbrec and sequentially consistent; two __threadfence()
  kSystemReleaseStore,  // safe wherever the queues lie; the doorbell is a system-scope release store
  kSystemFence,         // safe wherever the queues lie; one system-scope fence before the doorbell
};
inline constexpr std::uint32_t kOrderings = 7;

enum class FenceKind : std::uint8_t { kNone, kGpu, kGpuSequential, kSystem, kGpuRelease, kGpuAcquire, kBlock };
enum class StoreKind : std::uint8_t {
  kPlain,
  kVolatile,
  kRelaxedSystem,
  kMmio,
  kReleaseGpu,
  kReleaseSystem,
  kSequentialSystem,  // a sequentially consistent fence of system scope, and a relaxed store
};
enum class Scope : std::uint8_t { kNone, kGpu, kSystem, kBlock };

MARROW_HD constexpr bool is_release(StoreKind kind) {
  return kind == StoreKind::kReleaseGpu || kind == StoreKind::kReleaseSystem;
}

/// One row of the comparison. order.h emits it, probes count it, tools/ptx_check looks for it in the PTX.
struct Recipe {
  FenceKind before_dbrec;
  StoreKind dbrec;
  FenceKind before_doorbell;
  StoreKind doorbell;
  Scope poll;  // of the CQE load, and of the fence between it and what the completion allows
};

MARROW_HD constexpr Recipe recipe_of(Ordering ordering) {
  constexpr Recipe rows[kOrderings] = {
      {FenceKind::kNone, StoreKind::kPlain, FenceKind::kNone, StoreKind::kMmio, Scope::kNone},
      {FenceKind::kNone, StoreKind::kRelaxedSystem, FenceKind::kGpu, StoreKind::kMmio, Scope::kGpu},
      {FenceKind::kGpu, StoreKind::kRelaxedSystem, FenceKind::kGpu, StoreKind::kMmio, Scope::kGpu},
      {FenceKind::kNone, StoreKind::kReleaseGpu, FenceKind::kNone, StoreKind::kReleaseGpu, Scope::kGpu},
      {FenceKind::kGpuSequential, StoreKind::kVolatile, FenceKind::kGpuSequential, StoreKind::kVolatile, Scope::kGpu},
      {FenceKind::kNone, StoreKind::kRelaxedSystem, FenceKind::kNone, StoreKind::kReleaseSystem, Scope::kSystem},
      {FenceKind::kNone, StoreKind::kRelaxedSystem, FenceKind::kSystem, StoreKind::kMmio, Scope::kSystem},
  };
  return rows[static_cast<std::uint8_t>(ordering)];
}

/// Where write() takes the payload from.
enum class Payload : std::uint8_t {
  kInline,   // the lane loads `from` and stores it in the WQE: no fetch by the NIC, `from` is free at once, no lkey;
             // costs a 16-byte store for each 16 bytes, and is limited by max_inline_bytes
  kPointer,  // the NIC fetches `from`: any length, one more PCIe read; `from` is in use until the completion
};

/// WQEs announced by one doorbell. A submit's last doorbell always covers its last WQE, so nothing is ever left unrung.
struct Batching {
  std::uint32_t wqes_per_doorbell = 0;  // 0: one doorbell a submit, whatever its size
};

/// Who else may post to the queue meanwhile.
enum class Sharing : std::uint8_t {
  kExclusive,  // nobody but the team: no atomics, indices in registers; two teams at once corrupt the queue
};

enum class Mem : std::uint8_t {
  kLane,  // memory of the processor that runs the lane: GPU memory on a GPU lane, host memory on a host lane
  kGpu,   // memory of a GPU: the NIC reads it over PCIe from the GPU's L2
  kHost,  // memory of the host: each store and poll of a GPU lane crosses PCIe
};

/// Where the queues lie. The policy says it so that the compiler can refuse an ordering that cannot reach there.
struct Placement {
  Mem sq = Mem::kLane;
  Mem cq = Mem::kLane;
  Mem dbrec = Mem::kLane;

  [[nodiscard]] constexpr bool uses(Mem mem) const { return sq == mem || cq == mem || dbrec == mem; }
};
constexpr Placement all_in(Mem mem) {
  return {mem, mem, mem};
}

/// Which WQEs of a submit ask for a CQE. The NIC reports every failed WQE either way.
enum class Signal : std::uint8_t {
  kLast,   // one CQE a submit, which stands for all before it
  kEvery,  // a CQE a WQE: room comes back earlier, the NIC writes 64 bytes more for each
};

/// A CQE says: the source may be reused, the peer's NIC has acknowledged. It does not say that its threads see the
/// data.
struct Completion {
  Signal signal = Signal::kLast;
};

/// Base of all policies: what a policy does not name keeps this.
struct Policy {
  static constexpr Ordering ordering = Ordering::kGpuFence;
  static constexpr Payload payload = Payload::kInline;
  static constexpr Batching batching = {};
  static constexpr Sharing sharing = Sharing::kExclusive;
  static constexpr Placement placement = all_in(Mem::kLane);
  static constexpr Completion completion = {};
  static constexpr std::uint32_t max_inline_bytes = 28;  // 28: every WQE is one WQEBB; up to 220
};

template <class P>
concept PolicyType = std::derived_from<P, Policy> && requires {
  { P::name } -> std::convertible_to<std::string_view>;
};

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
template <class P, std::uint32_t N>
struct Batch : P {
  static constexpr Batching batching{N};
};
template <class P>
struct SignalEvery : P {
  static constexpr Completion completion{Signal::kEvery};
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

using OrderingPolicies =
    List<NoOrder, GpuFence, GpuFenceDbrec, GpuReleaseStore, Threadfence, SystemReleaseStore, SystemFence>;
static_assert(OrderingPolicies::size == kOrderings);

enum class Lane : std::uint8_t { kHost, kGpu, kUnknown };

/// Instantiated by each SendQueue. The sentences are part of the interface: tests/gda looks for them.
template <PolicyType P, Lane L>
struct CheckPolicy {
  static_assert(L != Lane::kGpu || !P::placement.uses(Mem::kHost) || recipe_of(P::ordering).poll == Scope::kSystem,
                "marrow: a GPU-scope ordering does not reach queues in host memory; use kSystemFence or "
                "kSystemReleaseStore, or place SQ, CQ and dbrec in GPU memory");
  static_assert(L != Lane::kHost || !P::placement.uses(Mem::kGpu),
                "marrow: a host lane cannot post to queues in GPU memory; place SQ, CQ and dbrec in host memory");
  static_assert(P::max_inline_bytes <= wire::max_inline_write(4),
                "marrow: an inline payload has at most 220 bytes, the room of a WQE of four WQEBBs");
  static_assert(P::payload != Payload::kInline || P::max_inline_bytes > 0,
                "marrow: inline payload needs max_inline_bytes above 0");
  static_assert(P::batching.wqes_per_doorbell <= 256,
                "marrow: a doorbell announces 1 to 256 WQEs; 0 stands for the whole submit");
  static constexpr bool ok = true;
};

}  // namespace marrow::gda
