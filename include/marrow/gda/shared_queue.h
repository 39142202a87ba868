// SPDX-License-Identifier: Apache-2.0
// Stops 1 and 2 of 9 for a queue that several teams post to at once: the same four verbs as send_queue.h, the indices
// in memory beside the queue. Which atomics: shared_word.h. How slots become ready, and who rings: publication.h.
//
//   gda::SendQueue<gda::Shared<gda::GpuFence>> sq{qp};     // one object a lane; the teams are Solo, Warp or Block
//   const auto slots = sq.reserve(team, team.size());      // a warp: one atomic for 32 slots
//   sq.write(slots[team.rank()], {.to = peer + at, .from = row + at, .bytes = 8});
//   const auto result = sq.wait(team, sq.submit(team, slots));
#pragma once

#include <cstdint>

#include "marrow/gda/publication.h"
#include "marrow/gda/send_queue.h"

namespace marrow::gda {

/// Every lane of every team holds one. A team submits each reservation, in the order in which it reserved: whatever it
/// leaves blocks all behind it, until their time limit makes kTimeout the queue's error. With Sharing::kLockPerWqe one
/// team at a time is between reserve() and submit().
template <PolicyType P, class Probe>
requires(P::sharing != Sharing::kExclusive) class SendQueue<P, Probe> : public WqeWriter<P, Probe> {
  static_assert(CheckPolicy<P, kLane>::ok);
  static constexpr Scope S = P::sharers;
  static constexpr bool kLocks = P::sharing == Sharing::kLockPerWqe;
  using Base = WqeWriter<P, Probe>;
  using Base::qp_;
  using Base::refused_;

 public:
  using Base::probe;

  MARROW_HD explicit SendQueue(const Qp& qp) : Base(qp) {}
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;

  /// Slots that no other team has; each must then be written. Cost: an atomic add, once a team; the lock with
  /// kLockPerWqe. Where the ring looked full, also a load of its progress, and whatever waiting takes (Credit). Errors:
  /// kBadRequest (more than the ring holds; a lock held already), kQueueFull (Credit::kTry), kTimeout, or the queue's
  /// error, which is looked for only while waiting.
  template <class Team>
  MARROW_HD Slots reserve(const Team& team, Room room) {
    probe().on_stage(Stage::kCaller);
    const std::uint64_t need = room.total();
    Place mine{0, Status::kBadRequest};
    if (need != 0 && need <= qp_.sq_wqebbs && room.wqebbs <= kMaxWqebbs) {
      if (team.rank() == 0) mine = kLocks ? place_under_lock(need) : place_beside_others(need);
      mine = team.broadcast(mine);
    }
    if (mine.status == Status::kOk) probe().on_stage(Stage::kReserve);
    return {mine.first, room, mine.status, signal_of(P::completion.signal, mine.first, need, qp_.sq_wqebbs)};
  }
  template <class Team>
  MARROW_HD Slots reserve(const Team& team, std::uint32_t wqes) {
    return reserve(team, Room{wqes, 1});
  }

  /// The slots become ready behind all earlier ones and, as Batching says, are announced: by this team, or by another
  /// that rings further. Errors: in the ticket. kBadRequest for slots submitted twice, kTimeout, or the queue's error.
  template <class Team>
  MARROW_HD Ticket submit(const Team& team, const Slots& slots, More more = More::kNo) {
    if (!slots.ok()) return {.status = slots.status};
    probe().on_stage(Stage::kCaller);
    team.sync();
    Status status = Status::kOk;
    if (team.rank() == 0) status = kLocks ? announce_and_unlock(slots) : publisher().publish(slots, more, ready_);
    return {slots.last_wqe(), slots.end(), team.broadcast(status)};
  }

  /// As on an exclusive queue.
  template <class Team, class Write>
  MARROW_HD Ticket post(const Team& team, Room room, const Write& write) {
    const Slots slots = reserve(team, room);
    if (!slots.ok()) return {.status = slots.status};
    write(slots);
    return submit(team, slots);
  }

  /// Rings for whatever any team's submits have put off.
  template <class Team>
  MARROW_HD void flush(const Team& team) {
    if constexpr (kDefers<P>) {
      if (team.rank() == 0) publisher().flush(load_shared<S>(shared().ready));
    }
    team.sync();
  }

  /// As on an exclusive queue. All waiters get the queue's first error, whoever's WQE failed.
  template <class Team>
  MARROW_HD Result wait(const Team& team, const Ticket& ticket) {
    if (ticket.status != Status::kOk) return {ticket.status};
    probe().on_stage(Stage::kCaller);
    Result result{team.any(refused_) ? Status::kBadRequest : Status::kOk};
    if (result.ok()) {
      if (team.rank() == 0) result = await(ticket);
      result = team.broadcast(result);
    }
    probe().on_stage(Stage::kWait);
    return result;
  }
  /// Waits for everything that any team has submitted so far.
  template <class Team>
  MARROW_HD Result drain(const Team& team) {
    return wait(team, Ticket{~0ull, load_shared<S>(shared().ready), Status::kOk});
  }

  /// What other teams do meanwhile may show in parts.
  [[nodiscard]] MARROW_HD QueueDump dump() const {
    const auto& s = shared();
    QueueDump d{qp_, {load_shared<S>(s.ready), load_shared<S>(s.ci), load_shared<S>(s.cqes), done_.error_of(qp_)}};
    d.reserved = load_shared<S>(s.reserved);
    const bool ring = qp_.cq_layout == CqLayout::kRing;
    const auto number = P::completion.find == FindCqe::kEntry ? d.counters.ci - s.cqe_origin : d.counters.cqes;
    fill_dump<P>(d, qp_.cq + (ring ? (number & qp_.cq_mask()) * wire::kCqeBytes : 0));
    return d;
  }

 private:
  struct Place {
    std::uint64_t first = 0;
    Status status = Status::kOk;
  };

  [[nodiscard]] MARROW_HD SharedIndices& shared() const { return qp_.counters->shared; }
  [[nodiscard]] MARROW_HD Publisher<P, Probe> publisher() { return {qp_, probe()}; }
  [[nodiscard]] MARROW_HD bool has_room(std::uint64_t end) const { return end <= done_.seen() + qp_.sq_wqebbs; }
  /// What must be complete so that the ring reaches to `end`.
  [[nodiscard]] MARROW_HD Ticket room_until(std::uint64_t end) const {
    return {~0ull, end > qp_.sq_wqebbs ? end - qp_.sq_wqebbs : 0, Status::kOk};
  }

  MARROW_HD Place place_beside_others(std::uint64_t need) {
    if constexpr (P::credit == Credit::kTry) {
      const auto end = load_shared<S>(shared().reserved) + need;
      if (!has_room(end) && !done_.try_once(qp_, room_until(end), probe())) {
        if constexpr (kDefers<P>) publisher().flush(load_shared<S>(shared().ready));
        const auto error = done_.error_of(qp_).status;
        return {0, error == Status::kOk ? Status::kQueueFull : error};
      }
    }
    const auto first = fetch_add<S>(shared().reserved, need);
    if constexpr (Publisher<P, Probe>::kLooksAhead)
      ready_ = load_shared<S>(shared().ready);  // while the add is under way
    probe().on_atomic();
    if (P::credit == Credit::kNone || has_room(first + need)) return {first, Status::kOk};
    const auto status = await(room_until(first + need)).status;
    if (status == Status::kOk) return {first, status};
    // Nobody else can fill these slots. If nobody has taken later ones, they are given back; else the queue ends here.
    if (compare_swap<S>(shared().reserved, first + need, first) != first + need) done_.record(qp_, {status});
    return {0, status};
  }

  MARROW_HD Place place_under_lock(std::uint64_t need) {
    if (holds_) return {0, Status::kBadRequest};
    Place mine{0, publisher().lock()};
    if (mine.status != Status::kOk) return mine;
    mine.first = load_shared<S>(shared().reserved);
    const auto end = mine.first + need;
    if (P::credit != Credit::kNone && !has_room(end)) {
      if constexpr (P::credit == Credit::kTry) {
        if (!done_.try_once(qp_, room_until(end), probe())) mine.status = Status::kQueueFull;
      } else {
        mine.status = await(room_until(end)).status;
      }
    }
    if (mine.status != Status::kOk) {
      publisher().unlock();
      return mine;
    }
    store_shared<S>(shared().reserved, end);
    holds_ = true;
    return mine;
  }
  MARROW_HD Status announce_and_unlock(const Slots& slots) {
    if (!holds_ || slots.end() != load_shared<S>(shared().reserved)) return Status::kBadRequest;
    store_shared<S>(shared().ready, slots.end());
    announce_slots<P>(qp_, slots, probe());
    holds_ = false;
    publisher().unlock();
    return Status::kOk;
  }

  /// By the leader. What is waited for must have been rung, or the wait would be for nothing.
  MARROW_HD Result await(const Ticket& target) {
    auto kick = [&] {
      if constexpr (kDefers<P>) publisher().flush(target.end);
    };
    kick();
    return done_.await(qp_, target, probe(), kick);
  }

  SharedCompletion<P> done_;
  std::uint64_t ready_ = 0;  // as this lane saw it when it reserved
  bool holds_ = false;       // the lock, from reserve() to submit()
};

}  // namespace marrow::gda
