// SPDX-License-Identifier: Apache-2.0
// Stop 9 of 9 on a shared queue: any lane may look at the CQ, and what one learns all know. Progress (ci) only grows;
// the first error stays. Who waits finds either by himself or in the shared words, and never sees less than what was
// known.
//
// A collapsed CQ of one-WQEBB WQEs is read without a lock. Its counter has 16 bits, so a lane that slept between its
// loads could take an old turn for a new one. Hence `ci` is loaded first, and the counter is taken for the first index
// from there on: whatever passed meanwhile makes the answer too small, never too large. (Without a credit check ci may
// lag by whole turns; then the caller's promise, never more than the ring in flight, takes its place.) Else (a CQE to
// be consumed in turn, or a size to be read from the WQE) one lane at a time looks, for only who moves ci may read what
// ci still protects.
#pragma once

#include <cstdint>

#include "marrow/gda/completion_queue.h"
#include "marrow/gda/shared_word.h"
#include "marrow/gda/team.h"

namespace marrow::gda {

/// Behind a lock that was taken, and between two shared words that others read in turn.
template <PolicyType P>
inline constexpr FenceKind kJoin = P::sharers == Scope::kBlock ? FenceKind::kBlock : FenceKind::kGpu;

template <PolicyType P>
class SharedCompletion {
  static constexpr Recipe R = recipe_for<P>();
  static constexpr Scope S = P::sharers;

 public:
  /// Progress as this lane saw it last.
  [[nodiscard]] MARROW_HD std::uint64_t seen() const { return seen_; }

  /// Until target.end is complete, an error, or the time limit. \param kick  called at each look that was for nothing.
  template <class Probe, class Kick>
  MARROW_HD Result await(const Qp& qp, const Ticket& target, Probe& probe, const Kick& kick) {
    SpinLimit limit(qp.timeout_ns);
    Result verdict;  // stands when one more look brings nothing
    for (std::uint32_t spins = 1;; ++spins) {
      if (try_once(qp, target, probe)) return {};
      if (!verdict.ok()) return verdict;
      kick();
      if (spins % 16 == 0) verdict = error_of(qp);
      if (verdict.ok() && limit.expired()) verdict = {Status::kTimeout};
    }
  }

  /// One look: is target.end complete? Both loads are under way before either is waited for.
  template <class Probe>
  [[nodiscard]] MARROW_HD bool try_once(const Qp& qp, const Ticket& target, Probe& probe) {
    const bool by_counter =
        P::completion.find == FindCqe::kCounter && kShortWqes<P> && qp.cq_layout == CqLayout::kCollapsed;
    const auto ci = load_shared<S>(qp.counters->shared.ci);
    std::uint64_t lowest = ci;
    if constexpr (P::credit == Credit::kNone) {
      const auto posted = load_shared<S>(qp.counters->shared.ready);
      if (posted > ci + qp.sq_wqebbs) lowest = posted - qp.sq_wqebbs;
    }
    const std::uint32_t word = by_counter ? load_cqe_tail<R>(qp.cq) : 0;
    if (seen_ < ci) seen_ = ci;
    if (seen_ >= target.end) {
      fence_behind_cqe(probe);
      return true;
    }
    if (by_counter) {
      look_at_counter(qp, {lowest, word}, probe);
    } else if constexpr (P::completion.find == FindCqe::kEntry) {
      look_at_entry(qp, target.end, probe);
    } else {
      look_in_turn(qp, target, probe);
    }
    return seen_ >= target.end;
  }

  [[nodiscard]] MARROW_HD static Result error_of(const Qp& qp) {
    return unpack_result(load_shared<S>(qp.counters->shared.error));
  }

  /// The first error stays, but a flush gives way to its cause. Also ends a queue that lost a turn (kTimeout).
  MARROW_HD static void record(const Qp& qp, const Result& error) {
    auto& word = qp.counters->shared.error;
    const auto old = compare_swap<S>(word, 0, pack_result(error));
    if (old != 0 && unpack_result(old).status == Status::kFlushed && error.status != Status::kFlushed) {
      compare_swap<S>(word, old, pack_result(error));
    }
  }

 private:
  template <class Probe>
  MARROW_HD static void fence_behind_cqe(Probe& probe) {
    order_cqe_before_payload<R>();
    if constexpr (R.poll != Scope::kNone) probe.on_acquire(R.poll);
  }

  struct Glance {
    std::uint64_t lowest;  // all before it is complete
    std::uint32_t word;    // of the CQE, loaded later
  };
  template <class Probe>
  MARROW_HD void look_at_counter(const Qp& qp, const Glance& glance, Probe& probe) {
    auto& s = qp.counters->shared;
    const std::uint64_t from = glance.lowest - kMaxWqebbs;
    const std::uint32_t word = glance.word;
    const auto tail = wire::CqeTail::from_word(word);
    if (tail.opcode() == wire::CqeOpcode::kInvalid) return;
    const std::uint64_t first = from + static_cast<std::uint16_t>(tail.wqe_counter - from);
    const bool ours = first >= seen_ && first < load_shared<S>(s.ready);
    const bool good = tail.opcode() == wire::CqeOpcode::kRequester;
    // Not ours: known already, or of a doorbell that was rung before its turn was passed on.
    if (!ours && (good || P::publication.lock == PostLock::kTurn)) return;
    fence_behind_cqe(probe);
    probe.on_cqe();
    if (good) return advance(s, first + 1, probe);
    const Result error = decode_error<R>(qp.cq, word);
    if (ours && error.status != Status::kFlushed && error.wqe_counter == tail.wqe_counter) advance(s, first, probe);
    emit_fence<kJoin<P>>();
    record(qp, error);
  }
  template <class Probe>
  MARROW_HD void advance(SharedIndices& s, std::uint64_t ci, Probe& probe) {
    fetch_max<S>(s.ci, ci);
    probe.on_atomic();
    if (seen_ < ci) seen_ = ci;
  }

  /// CQE number n stands at entry n: no other lane's CQEs matter. Its owner bit tells the lap; of two laps later, ci
  /// does.
  template <class Probe>
  MARROW_HD void look_at_entry(const Qp& qp, std::uint64_t end, Probe& probe) {
    auto& s = qp.counters->shared;
    const std::uint64_t number = end - 1 - s.cqe_origin;
    const auto tail = wire::CqeTail::from_word(load_cqe_tail<R>(entry(qp, number)));
    if (!wire::cqe_is_valid(tail.op_own, number, qp.log_cqes)) return;
    fence_behind_cqe(probe);
    probe.on_cqe();
    if (tail.opcode() == wire::CqeOpcode::kRequester) return advance(s, end, probe);
    std::uint64_t root = number;  // behind it all is flushed
    while (root > seen_ - s.cqe_origin && is_error(qp, root - 1)) --root;
    const Result error = decode_error<R>(entry(qp, root), load_cqe_tail<R>(entry(qp, root)));
    if (error.status != Status::kFlushed) advance(s, s.cqe_origin + root, probe);
    emit_fence<kJoin<P>>();
    record(qp, error);
  }
  [[nodiscard]] MARROW_HD static const std::byte* entry(const Qp& qp, std::uint64_t number) {
    return qp.cq + (number & qp.cq_mask()) * wire::kCqeBytes;
  }
  [[nodiscard]] MARROW_HD static bool is_error(const Qp& qp, std::uint64_t number) {
    const auto tail = wire::CqeTail::from_word(load_cqe_tail<R>(entry(qp, number)));
    return wire::cqe_is_valid(tail.op_own, number, qp.log_cqes) && tail.opcode() != wire::CqeOpcode::kRequester;
  }

  /// As the exclusive owner does, while no other lane may. Whatever is in flight lies in [ci, ci + ring).
  template <class Probe>
  MARROW_HD void look_in_turn(const Qp& qp, const Ticket& target, Probe& probe) {
    auto& s = qp.counters->shared;
    if (compare_swap<S>(s.cq_lock, 0, 1) != 0) return;
    probe.on_atomic();
    emit_fence<kJoin<P>>();
    CompletionQueue<P> cq(QpIndices{0, load_shared<S>(s.ci), load_shared<S>(s.cqes), {}});
    for (std::uint32_t n = 0; n < 32 && cq.poll(qp, cq.ci() + qp.sq_wqebbs, target, probe); ++n) {
    }
    store_shared<S>(s.cqes, cq.cqes());
    store_shared<S>(s.ci, cq.ci());
    if (seen_ < cq.ci()) seen_ = cq.ci();
    if (!cq.error().ok()) {
      emit_fence<kJoin<P>>();
      record(qp, cq.error());
    }
    store_release<S>(s.cq_lock, 0);
  }

  std::uint64_t seen_ = 0;
};

}  // namespace marrow::gda
