// SPDX-License-Identifier: Apache-2.0
// Stop 2 of 9 on a shared queue: how slots become ready in reservation order, and who rings for them. Aside of the
// walk.
//
// Visibility, by the PTX model: a team's WQEs | Publication::before | its move of `ready` ... another team that sees
// `ready` | Publication::after | its own move, or its doorbell. The fence of the ordering (order.h) then covers all of
// them. Every wait ends: with the queue's error, or at Qp::timeout_ns, which becomes the queue's error, for a turn that
// is never passed on blocks all behind it.
#pragma once

#include <cstdint>

#include "marrow/gda/announce.h"
#include "marrow/gda/shared_completion.h"

namespace marrow::gda {

/// Bounds a wait for other lanes. kOk: go on waiting.
template <PolicyType P>
class Patience {
 public:
  MARROW_HD explicit Patience(const Qp& qp) : qp_(qp), limit_(qp.timeout_ns) {}

  [[nodiscard]] MARROW_HD Status wait() {
    if (++spins_ % 64 == 0) {
      const Result error = SharedCompletion<P>::error_of(qp_);
      if (!error.ok()) return error.status;
    }
    return limit_.expired() ? Status::kTimeout : Status::kOk;
  }

 private:
  const Qp& qp_;
  SpinLimit limit_;
  std::uint32_t spins_ = 0;
};

template <PolicyType P, class Probe>
class Publisher {
  static constexpr Scope S = P::sharers;
  static constexpr Publication kHow = P::publication;
  static constexpr bool kForwards = P::doorbell == DoorbellSequence::kForwarded;
  static constexpr bool kSwaps = kHow.turn == Turn::kCompareSwap && kHow.lock != PostLock::kTurn;

 public:
  MARROW_HD Publisher(const Qp& qp, Probe& probe) : qp_(qp), s_(qp.counters->shared), probe_(probe) {}

  /// The leader looks at the turn when it reserves. What it sees can only be too old, and a turn that has come stays.
  static constexpr bool kLooksAhead = kHow.lock == PostLock::kTurn;

  /// Takes the spin lock; what its holders did is then visible.
  [[nodiscard]] MARROW_HD Status lock() { return lock_or<false>(0).status; }
  MARROW_HD void unlock() { store_release<S>(s_.post_lock, 0); }

  /// The team's slots become ready in their turn and, if this submit rings, known to the NIC. By the team's leader.
  /// \param ready  how far the slots were ready, as seen since the reservation; used up.
  [[nodiscard]] MARROW_HD Status publish(const Slots& slots, More more, std::uint64_t& ready) {
    fence<kHow.before>();
    const bool come = kLooksAhead && ready == slots.first;
    ready = ~0ull;
    const Status status = come ? Status::kOk : await_turn(slots);
    if (status != Status::kOk) return status;
    pass_turn(slots);
    if constexpr (kHow.lock == PostLock::kTurn) return status;
    const std::uint64_t reserved = P::batching.when == PostWhen::kBoundaryOrIdle ? load_shared<S>(s_.reserved) : 0;
    return rings_now<P>(slots, more, reserved) ? ring_once(slots) : Status::kOk;
  }

  /// Rings for whatever is ready, if `end` has not been rung for.
  MARROW_HD void flush(std::uint64_t end) {
    const std::uint64_t rung = load_shared<S>(s_.rung);
    const std::uint64_t ready = load_shared<S>(s_.ready);
    if (rung >= end || rung >= ready) return;
    fence<kJoin<P>>();
    static_cast<void>(ring_once(Slots{ready - 1, Room{1, 1}}));  // a lock that never comes shows in the wait
  }

 private:
  template <FenceKind F>
  MARROW_HD void fence() {
    emit_fence<F>();
    if constexpr (F != FenceKind::kNone) probe_.on_fence(F);
  }

  struct Locking {
    bool held;
    Status status;
  };
  /// Takes the lock or, with `kUnlessRung`, leaves it when another lane rings for all before `end` anyway.
  template <bool kUnlessRung>
  [[nodiscard]] MARROW_HD Locking lock_or(std::uint64_t end) {
    Patience<P> patience(qp_);
    for (;;) {
      const std::uint64_t holders = compare_swap<S>(s_.post_lock, 0, 1);
      std::uint64_t rung = 0;
      if constexpr (kUnlessRung) rung = load_shared<S>(s_.rung);  // under way together
      if (holders == 0) break;
      if (kUnlessRung && rung >= end) return {false, Status::kOk};
      const Status status = patience.wait();
      if (status != Status::kOk) return {false, status};
    }
    probe_.on_atomic();
    fence<kHow.after != FenceKind::kNone ? kHow.after
          : S == Scope::kBlock           ? FenceKind::kBlock
                                         : FenceKind::kGpuAcquire>();
    return {true, Status::kOk};
  }

  /// All before the slots are ready. With a turn by compare-and-swap the slots then are, too.
  [[nodiscard]] MARROW_HD Status await_turn(const Slots& slots) {
    Patience<P> patience(qp_);
    for (;;) {
      const std::uint64_t ready =
          kSwaps ? compare_swap<S>(s_.ready, slots.first, slots.end()) : load_shared<S>(s_.ready);
      if (ready == slots.first) return Status::kOk;
      if (ready > slots.first) return Status::kBadRequest;  // submitted twice
      const Status status = patience.wait();
      if (status == Status::kOk) continue;
      SharedCompletion<P>::record(qp_, {status});
      return status;
    }
  }
  MARROW_HD void pass_turn(const Slots& slots) {
    fence<kHow.after>();
    if constexpr (kHow.lock == PostLock::kTurn) {
      announce_slots<P>(qp_, slots, probe_);
      store_release<S>(s_.ready, slots.end());
    } else if constexpr (kSwaps) {
      probe_.on_atomic();
    } else {
      store_shared<S>(s_.ready, slots.end());
    }
  }

  /// Unless somebody has rung further.
  [[nodiscard]] MARROW_HD Status ring_once(const Slots& slots) {
    if constexpr (kForwards) {  // the word itself keeps the maximum
      announce<P>(qp_, slots.end(), probe_);
      probe_.on_atomic();
      if constexpr (kDefers<P>) fetch_max<S>(s_.rung, slots.end());
      return Status::kOk;
    } else {
      constexpr bool kLocks = kHow.lock == PostLock::kLock;
      if constexpr (kLocks) {
        const Locking lock = lock_or<true>(slots.end());
        if (!lock.held) return lock.status;
      }
      if (fetch_max<S>(s_.rung, slots.end()) < slots.end()) announce_slots<P>(qp_, slots, probe_);
      probe_.on_atomic();
      if constexpr (kLocks) unlock();
      return Status::kOk;
    }
  }

  const Qp& qp_;
  SharedIndices& s_;
  Probe& probe_;
};

}  // namespace marrow::gda
