// SPDX-License-Identifier: Apache-2.0
// The axes of a policy beside its ordering: one enumerator a choice, each with what it promises and what it costs.
// Read at stop 2 of 9. Facts: each choice is one that some GPU library makes [obs: their sources].
#pragma once

#include <cstdint>

#include "marrow/gda/recipe.h"

namespace marrow::gda {

/// Where write() takes the payload from.
enum class Payload : std::uint8_t {
  kInline,   // the lane loads `from` and stores it in the WQE: no fetch by the NIC, `from` is free at once, no lkey;
             // costs a 16-byte store for each 16 bytes, and is limited by max_inline_bytes
  kPointer,  // the NIC fetches `from`: any length, one more PCIe read; `from` is in use until the completion
};

/// How the lane stores a WQE. All are weak or relaxed: order.h orders them.
enum class WqeStore : std::uint8_t {
  kWide,         // 16 bytes a store
  kStreaming,    // 16 bytes, first to be evicted from L2
  kRelaxedWide,  // 16 bytes, a relaxed store of GPU scope that passes L1 by
  kRelaxedWord,  // four relaxed stores of 4 bytes: four times the instructions
};

/// Where handle and indices of an exclusive queue rest between two uses.
enum class Residence : std::uint8_t {
  kRegisters,  // a copy in registers as long as the object lives: quickest, some 30 registers
  kMemory,     // the caller's handle and Qp::counters: each use loads what it needs, some twenty loads a message, and
               // nothing is live between two. For a kernel that needs its registers for something else
};

/// When a submit rings. Whatever is left unrung is rung by the next submit that does, by flush(), or by the wait for
/// it.
enum class PostWhen : std::uint8_t {
  kSubmit,          // each submit, at least once
  kCaller,          // unless the caller says More::kYes
  kBoundary,        // when a submit crosses a multiple of Batching::wqes_per_doorbell WQEBBs
  kBoundaryOrIdle,  // also when nobody else has reserved meanwhile, and when the submit itself is that large
};

/// WQEs announced by one doorbell.
struct Batching {
  std::uint32_t wqes_per_doorbell = 0;  // 0: one doorbell a submit, whatever its size
  PostWhen when = PostWhen::kSubmit;
};

/// Who else may post to the queue meanwhile.
enum class Sharing : std::uint8_t {
  kExclusive,   // nobody but the team: no atomics, indices in registers; two teams at once corrupt the queue
  kLockPerWqe,  // any team, one at a time: a spin lock is held from reserve() to submit(). One reservation a team
  kSlots,       // any team: an atomic add gives slots, all write at once, and slots become ready in reservation order.
                // Once a team: a warp pays it for 32 slots. A team submits in the order of its reservations, soon
};

/// How a team's slots become ready, on a queue with Sharing::kSlots.
enum class Turn : std::uint8_t {
  kReadyIndex,   // spin on loads until all before are ready, then store
  kCompareSwap,  // spin on compare-and-swap: fewer steps in the chain, an atomic for each try
};

/// Who rings, when several may. The highest index rung so far keeps a late lane from ringing what has been rung.
enum class PostLock : std::uint8_t {
  kLock,  // a spin lock around maximum, record and doorbell
  kTurn,  // none: the slots become ready after the doorbell, so the turn itself is the lock. Nobody builds a lead
  kNone,  // the atomic maximum alone, and no record: needs a register that sees every store and a NIC that takes it
};

struct Publication {
  Turn turn = Turn::kReadyIndex;
  PostLock lock = PostLock::kLock;
  FenceKind before = FenceKind::kGpu;  // a team's WQEs before its slots are ready
  FenceKind after = FenceKind::kGpu;   // what others made ready before what this team does next
};

/// What reserve() does about room.
enum class Credit : std::uint8_t {
  kWait,  // takes the slots, then waits until they are free
  kTry,   // kQueueFull at once where there is no room
  kNone,  // nothing: the caller never has more than the ring in flight, or it destroys live WQEs. WQEs of one WQEBB
};

/// What is stored to announce, in which order. Each fence is the ordering's.
enum class DoorbellSequence : std::uint8_t {
  kRecord,         // record, doorbell
  kEarly,          // doorbell, record, doorbell: the NIC starts before the record is visible; the second ring covers a
                   // NIC that went by the record. One more fence and one more store to the register
  kEarlyUnfenced,  // the same without a fence before the first doorbell: the publication's must do
  kNoRecord,       // doorbell alone: a lost one stays lost, and after an error the NIC flushes by a stale record
  kForwarded,      // none of both: the index goes into a word of host memory (Qp::doorbell), and a host thread stores
                   // record and doorbell (HostRinger). Costs its polling time; frees the lane of the register
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

/// Every CQE at entry 0; or 2^log_cqes entries with an owner bit per lap, then as many as the SQ has WQEBBs or more.
enum class CqLayout : std::uint8_t { kCollapsed, kRing };

/// Which WQEs of a submit ask for a CQE. The NIC reports every failed WQE either way.
enum class Signal : std::uint8_t {
  kLast,    // one CQE a submit, which stands for all before it
  kEvery,   // a CQE a WQE: room comes back earlier, the NIC writes 64 bytes more for each
  kSparse,  // one where a reservation ends a half of the ring, so that room comes back; for what will be waited for,
            // write to slots.asking()
  kNever,   // of one reservation, not of a policy
};

/// How a wait finds its CQE.
enum class FindCqe : std::uint8_t {
  kCounter,  // by the WQE counter of the next CQE, or of the only one
  kEntry,    // at the WQE's own entry: no shared consumer index to move; needs a ring CQ, Signal::kEvery and one WQEBB
};

/// Whether consumed CQEs are reported to the NIC.
enum class CqRecord : std::uint8_t {
  kNone,      // no: the CQ was made to ignore its own overrun
  kConsumer,  // the consumer index goes to the CQ's dbrec (Qp::cq_consumer), once a CQE
};

/// What quiet() waits for.
enum class QuietScope : std::uint8_t {
  kUsedQueue,  // the queue that was used
  kSet,        // each queue of the set, used or not: one look at least for each
};

/// A CQE says: the source may be reused, the peer's NIC has acknowledged. It does not say that its threads see the
/// data.
struct Completion {
  Signal signal = Signal::kLast;
  FindCqe find = FindCqe::kCounter;
  CqRecord record = CqRecord::kNone;
  QuietScope quiet = QuietScope::kUsedQueue;
};

/// What a QP needs to know of the peer in each WQE.
enum class Transport : std::uint8_t {
  kRc,         // nothing: it is connected
  kDcCompact,  // a DCI: 16 bytes of address (wire/dc.h); an atomic takes two WQEBBs
  kDcFull,     // a DCI: 48 bytes; everything takes two WQEBBs or more
};

/// What put_with_signal() appends.
enum class Notify : std::uint8_t {
  kFetchAdd,   // 8-byte fetch-and-add; the old value comes back
  kFetchAdd4,  // masked, 4 bytes
  kWrite8,     // inline write of 8 bytes: no answer but the ACK
  kWrite4,
};

/// Which queue of a set a team posts to.
enum class QueueMap : std::uint8_t {
  kCaller,  // the caller's index modulo the number of queues: a peer, an expert, a context
  kBlock,
  kWarp,
  kRoundRobin,  // a counter beside the set: an atomic for each pick
};

/// What the queue's maker should choose; 0: its own choice.
struct Shape {
  std::uint32_t sq_wqebbs = 0;
  CqLayout cq_layout = CqLayout::kCollapsed;
};

/// Of a submit under PostWhen::kCaller.
enum class More : std::uint8_t { kNo, kYes };

}  // namespace marrow::gda
