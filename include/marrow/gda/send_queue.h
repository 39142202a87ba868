// SPDX-License-Identifier: Apache-2.0
// Stops 1 and 2 of 9: the four verbs, each a phase of the hardware's protocol. reserve: room; write: bytes
// (wqe_writer.h); submit: order and doorbell (announce.h); wait: CQE. A failure stays in the chain (Slots, Ticket,
// Result), so a lane need only look at the end.
//
//   gda::SendQueue<gda::GpuFence> sq{qp};
//   const auto slots = sq.reserve(team, team.size());
//   sq.write(slots[team.rank()], {.to = peer + at, .from = row + at, .bytes = 8});
//   const auto result = sq.wait(team, sq.submit(team, slots));
//
// This is the queue of one team; that of many is in shared_queue.h, with the same verbs. Facts: indices count WQEBBs
// [prm].
#pragma once

#include <cstdint>

#include "marrow/gda/announce.h"
#include "marrow/gda/completion_queue.h"
#include "marrow/gda/team.h"
#include "marrow/gda/wqe_writer.h"

namespace marrow::gda {

/// WQEBBs rung, where a submit may put that off; else what is submitted is rung.
template <bool Defers>
struct RungIndex {};
template <>
struct RungIndex<true> {
  std::uint64_t rung = 0;
};

/// A send queue in the hands of one team. Every lane of the team holds one, and all make each call that takes the team;
/// write and its kin are called by one lane a slot, in any order. Indices live in registers and go back to
/// Qp::counters when the object ends. Submits must follow the order of their reservations.
template <PolicyType P, class Probe = NoProbe>
class SendQueue : public WqeWriter<P, Probe>, RungIndex<kDefers<P>> {
  static_assert(CheckPolicy<P, kLane>::ok);
  static_assert(P::sharing == Sharing::kExclusive,
                "marrow: a queue that teams share is in marrow/gda/shared_queue.h; include it");
  static constexpr Recipe R = recipe_for<P>();
  using Base = WqeWriter<P, Probe>;
  using Base::qp_;
  using Base::refused_;

 public:
  using Base::probe;

  MARROW_HD explicit SendQueue(const Qp& qp) : Base(qp), pi_(qp.counters->pi), cq_(*qp.counters) {
    if constexpr (kDefers<P>) this->rung = qp.counters->shared.rung;
  }
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;
  MARROW_HD ~SendQueue() {
    auto& c = *qp_.counters;  // each lane stores the same
    c.pi = pi_;
    c.ci = cq_.ci();
    c.cqes = cq_.cqes();
    if (!refused_) c.error = cq_.error();
    if constexpr (kDefers<P>) c.shared.rung = this->rung;
  }

  /// Waits until the SQ has room; each slot must then be written. Cost with room: one comparison of registers.
  /// Errors: kBadRequest (more than the ring holds), kQueueFull (full of WQEs that were never submitted, or
  /// Credit::kTry), kTimeout, or the error that the queue has met before.
  template <class Team>
  MARROW_HD Slots reserve(const Team& team, Room room) {
    probe().on_stage(Stage::kCaller);
    if (lacks_room(room)) {
      const Status status = find_room(team, room);
      if (status != Status::kOk) return {reserved(), room, status};
    }
    return take(room);
  }
  template <class Team>
  MARROW_HD Slots reserve(const Team& team, std::uint32_t wqes) {
    return reserve(team, Room{wqes, 1});
  }

  /// WQEs | order | dbrec | order | doorbell, once per Batching::wqes_per_doorbell WQEs; the last doorbell covers all.
  /// Errors: in the ticket. kBadRequest for slots that are not the oldest reservation.
  template <class Team>
  MARROW_HD Ticket submit(const Team& team, const Slots& slots, More more = More::kNo) {
    if (!slots.ok()) return {.status = slots.status};
    if (differ(slots.first, pi_)) return {.status = Status::kBadRequest};
    return release(team, slots, more);
  }

  /// The three verbs at once, `write(slots)` the second: the quickest way where nothing happens between them. Once
  /// there is room and no other reservation is open nothing more can go wrong, so the compiler leaves out all other
  /// checks.
  template <class Team, class Write>
  MARROW_HD Ticket post(const Team& team, Room room, const Write& write) {
    probe().on_stage(Stage::kCaller);
    if (lacks_room(room) | (open_ != 0)) {
      const Status status = open_ == 0 ? find_room(team, room) : Status::kBadRequest;
      if (status != Status::kOk)
        return {pi_, pi_, status};  // of what the other way returns, as much as can be the same
    }
    const Slots slots = take(room);
    write(slots);
    return release(team, slots, More::kNo);
  }

  /// Rings for whatever submits have put off.
  template <class Team>
  MARROW_HD void flush(const Team& team) {
    if constexpr (kDefers<P>) {
      if (this->rung != pi_) flush_by(team.rank());
    }
  }

  /// Until the ticket's CQE, an error, or Qp::timeout_ns. kOk: sources may be reused, results of reads and atomics are
  /// there. After the first error every later wait returns that error; a ticket that had completed before it is kOk.
  template <class Team>
  MARROW_HD Result wait(const Team& team, const Ticket& ticket) {
    if (ticket.status != Status::kOk) return {ticket.status};
    probe().on_stage(Stage::kCaller);
    const Result result = team.any(refused_) ? Result{Status::kBadRequest} : await(team, ticket);
    probe().on_stage(Stage::kWait);
    return result;
  }
  /// Waits for everything submitted on this queue.
  template <class Team>
  MARROW_HD Result drain(const Team& team) {
    return wait(team, Ticket{~0ull, pi_, Status::kOk});
  }

  [[nodiscard]] MARROW_HD QueueDump dump() const {
    QueueDump d{qp_, {pi_, cq_.ci(), cq_.cqes(), cq_.error()}, reserved()};
    fill_dump<P>(d, cq_.cqe_at(qp_));
    return d;
  }

 private:
  [[nodiscard]] MARROW_HD bool lacks_room(const Room& room) const {
    return (room.total() - 1 >= room_) | (room.wqebbs > kMaxWqebbs);
  }
  [[nodiscard]] MARROW_HD std::uint64_t reserved() const { return pi_ + open_; }
  MARROW_HD Slots take(const Room& room) {
    const std::uint64_t first = reserved(), need = room.total();
    open_ += static_cast<std::uint32_t>(need);
    room_ -= static_cast<std::uint32_t>(need);
    probe().on_stage(Stage::kReserve);
    return {first, room, Status::kOk, signal_of(P::completion.signal, first, need, qp_.sq_wqebbs)};
  }
  /// Of the oldest reservation.
  template <class Team>
  MARROW_HD Ticket release(const Team& team, const Slots& slots, [[maybe_unused]] More more) {
    probe().on_stage(Stage::kCaller);
    team.sync();
    pi_ = slots.end();
    open_ -= static_cast<std::uint32_t>(slots.room.total());
    if constexpr (kDefers<P>) {
      if (rings_now<P>(slots, more, reserved())) flush_by(team.rank());
    } else {
      if (team.rank() == 0) announce_slots<P>(qp_, slots, probe());
    }
    return {slots.last_wqe(), pi_, Status::kOk};
  }
  /// Indices of one ring are never 2^32 apart.
  [[nodiscard]] MARROW_HD static bool differ(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint32_t>(a) != static_cast<std::uint32_t>(b);
  }

  /// Where room_ is not enough: what is wrong, or how much room there is by now.
  template <class Team>
  MARROW_HD Status find_room(const Team& team, const Room& room) {
    const std::uint64_t need = room.total();
    if (need == 0 || need > qp_.sq_wqebbs || room.wqebbs > kMaxWqebbs) return Status::kBadRequest;
    if (!cq_.error().ok()) return cq_.error().status;
    if constexpr (P::credit == Credit::kNone) {
      room_ = qp_.sq_wqebbs;
      return Status::kOk;
    }
    const std::uint64_t end = reserved() + need;
    const Status status = end > cq_.ci() + qp_.sq_wqebbs ? make_room(team, end - qp_.sq_wqebbs) : Status::kOk;
    const bool again = !cq_.error().ok();  // what was asked for is free, but the next reservation must see the error
    if (status == Status::kOk) room_ = static_cast<std::uint32_t>(again ? need : cq_.ci() + qp_.sq_wqebbs - reserved());
    return status;
  }
  /// \param end  what must be complete.
  template <class Team>
  MARROW_HD Status make_room(const Team& team, std::uint64_t end) {
    if (end > pi_) return Status::kQueueFull;
    if constexpr (P::credit == Credit::kTry) {
      flush(team);
      if (team.rank() == 0) cq_.poll(qp_, pi_, Ticket{~0ull, end, Status::kOk}, probe());
      cq_ = team.broadcast(cq_);
      if (!cq_.error().ok()) {
        room_ = 0;
        return cq_.error().status;
      }
      return cq_.ci() >= end ? Status::kOk : Status::kQueueFull;
    }
    return await(team, Ticket{~0ull, end, Status::kOk}).status;
  }
  MARROW_HD void flush_by(std::uint32_t rank) {
    if (rank == 0) announce<P>(qp_, pi_, probe());
    if constexpr (kDefers<P>) this->rung = pi_;
  }

  /// The leader polls; all lanes leave with the same indices.
  template <class Team>
  MARROW_HD Result await(const Team& team, const Ticket& target) {
    if (cq_.ci() >= target.end) return {};
    flush(team);
    bool expired = false;
    if (team.rank() == 0) {
      SpinLimit limit(qp_.timeout_ns);
      while (cq_.ci() < target.end && cq_.error().ok() && !expired) {
        if (!cq_.poll(qp_, pi_, target, probe())) expired = limit.expired();
      }
    }
    cq_ = team.broadcast(cq_);
    if (!cq_.error().ok()) room_ = 0;
    if (cq_.ci() >= target.end) return {};
    return cq_.error().ok() ? Result{Status::kTimeout} : cq_.error();
  }

  std::uint64_t pi_;        // WQEBBs submitted
  std::uint32_t open_ = 0;  // WQEBBs promised to slots and not submitted
  std::uint32_t room_ = 0;  // WQEBBs to reserve without a look at ci or an error; what is free may be more
  CompletionQueue<P> cq_;
};

}  // namespace marrow::gda
