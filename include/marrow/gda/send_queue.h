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
#include <type_traits>

#include "marrow/gda/announce.h"
#include "marrow/gda/completion_queue.h"
#include "marrow/gda/team.h"
#include "marrow/gda/wqe_writer.h"

namespace marrow::gda {

/// A send queue in the hands of one team. Every lane of the team holds one, and all make each call that takes the team;
/// write and its kin are called by one lane a slot, in any order. Indices live in registers and go back to
/// Qp::counters when the object ends; with Residence::kMemory they stay there, and the handle stays the caller's.
/// Submits must follow the order of their reservations.
template <PolicyType P, class Probe = NoProbe>
class SendQueue : public WqeWriter<P, Probe> {
  static_assert(CheckPolicy<P, kLane>::ok);
  static_assert(P::sharing == Sharing::kExclusive,
                "marrow: a queue that teams share is in marrow/gda/shared_queue.h; include it");
  static constexpr Recipe R = recipe_for<P>();
  using Base = WqeWriter<P, Probe>;
  using Base::qp_;
  using Base::refused_;

 public:
  using Base::probe;

  MARROW_HD explicit SendQueue(const Qp& qp) : Base(qp), posted_(qp_), cq_(qp_) {}
  SendQueue(const Qp&& qp) requires(kLean<P>) = delete;  // the handle must outlive the object
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;
  MARROW_HD ~SendQueue() {
    if constexpr (!kLean<P>) give_back();
  }

  /// Waits until the SQ has room; each slot must then be written. Cost with room: one comparison of registers.
  /// Errors: kBadRequest (more than the ring holds), kQueueFull (full of WQEs that were never submitted, or
  /// Credit::kTry), kTimeout, or the error that the queue has met before.
  template <class Team>
  MARROW_HD Slots reserve(const Team& team, Room room) {
    probe().on_stage(Stage::kCaller);
    if (lacks_room(room)) {
      const Status status = make_sure_of(team, room);
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
    if (differ(slots.first, posted_.pi())) return {.status = Status::kBadRequest};
    return release(team, slots, more);
  }

  /// The three verbs at once, `write(slots)` the second: the quickest way where nothing happens between them. Once
  /// there is room and no other reservation is open nothing more can go wrong, so the compiler leaves out all other
  /// checks.
  template <class Team, class Write>
  MARROW_HD Ticket post(const Team& team, Room room, const Write& write) {
    probe().on_stage(Stage::kCaller);
    if (lacks_room(room) | (open_ != 0)) {
      const Status status = open_ == 0 ? make_sure_of(team, room) : Status::kBadRequest;
      const std::uint64_t pi = posted_.pi();  // of what the other way returns, as much as can be the same
      if (status != Status::kOk) return {pi, pi, status};
    }
    const Slots slots = take(room);
    write(slots);
    return release(team, slots, More::kNo);
  }

  /// Rings for whatever submits have put off.
  template <class Team>
  MARROW_HD void flush(const Team& team) {
    if constexpr (kDefers<P>) {
      const bool late = posted_.rung() != posted_.pi();
      posted_.meet(team);
      if (late) ring_all(team);
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
    return wait(team, Ticket{~0ull, posted_.pi(), Status::kOk});
  }

  [[nodiscard]] MARROW_HD QueueDump dump() const {
    QueueDump d{qp_, {posted_.pi(), cq_.ci(), cq_.cqes(), cq_.error()}, reserved()};
    fill_dump<P>(d, cq_.cqe_at(qp_));
    return d;
  }

 private:
  [[nodiscard]] MARROW_HD bool lacks_room(const Room& room) const {
    return (room.total() - 1 >= posted_.room()) | (room.wqebbs > kMaxWqebbs);
  }
  [[nodiscard]] MARROW_HD std::uint64_t reserved() const { return posted_.pi() + open_; }
  MARROW_HD Slots take(const Room& room) {
    const std::uint64_t first = reserved(), need = room.total();
    open_ += static_cast<std::uint32_t>(need);
    posted_.set_room(posted_.room() - static_cast<std::uint32_t>(need));
    probe().on_stage(Stage::kReserve);
    return {first, room, Status::kOk, signal_of(P::completion.signal, first, need, qp_.sq_wqebbs)};
  }
  /// Of the oldest reservation.
  template <class Team>
  MARROW_HD Ticket release(const Team& team, const Slots& slots, [[maybe_unused]] More more) {
    probe().on_stage(Stage::kCaller);
    team.sync();
    posted_.set_pi(team, slots.end());
    open_ -= static_cast<std::uint32_t>(slots.room.total());
    if constexpr (kDefers<P>) {
      if (rings_now<P>(slots, more, slots.end() + open_)) ring_all(team);
    } else {
      if (team.rank() == 0) announce_slots<P>(qp_, slots, probe());
    }
    posted_.meet(team);
    return {slots.last_wqe(), slots.end(), Status::kOk};
  }
  /// Indices of one ring are never 2^32 apart.
  [[nodiscard]] MARROW_HD static bool differ(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint32_t>(a) != static_cast<std::uint32_t>(b);
  }

  /// Each lane stores the same.
  MARROW_HD void give_back() const {
    auto& c = *qp_.counters;
    posted_.give_back(c);
    c.ci = cq_.ci();
    c.cqes = cq_.cqes();
    if (!refused_) c.error = cq_.error();
  }

  /// Where the room known of is not enough. A queue in registers looks for more through the counters and out of line:
  /// the search would else stand between the test and the WQE, and every put would jump over it.
  template <class Team>
  MARROW_HD Status make_sure_of(const Team& team, const Room& room) {
    if constexpr (kLean<P> || !std::is_empty_v<Probe>) {
      return find_room(team, room);
    } else {
      give_back();
      const Found found = find_room_away(qp_, team, Room{room}, open_);
      posted_ = Posted<false, kDefers<P>>(qp_);
      cq_ = CompletionQueue<P>(qp_);
      posted_.set_room(found.room);
      return found.status;
    }
  }
  struct Found {
    Status status;
    std::uint32_t room;
  };
  template <class Team>
  MARROW_HD_AWAY static Found find_room_away(Qp qp, Team team, Room room, std::uint32_t open) {
    SendQueue sq(qp);
    sq.open_ = open;
    const Status status = sq.find_room(team, room);
    return {status, sq.posted_.room()};
  }

  /// What is wrong, or how much room there is by now.
  template <class Team>
  MARROW_HD Status find_room(const Team& team, const Room& room) {
    const std::uint64_t need = room.total();
    if (need == 0 || need > qp_.sq_wqebbs || room.wqebbs > kMaxWqebbs) return Status::kBadRequest;
    if (!cq_.error().ok()) return cq_.error().status;
    if constexpr (P::credit == Credit::kNone) {
      posted_.set_room(qp_.sq_wqebbs);
      return Status::kOk;
    }
    const std::uint64_t end = reserved() + need;
    const bool full = is_past<P>(end, cq_.ci() + qp_.sq_wqebbs);
    const Status status = full ? make_room(team, end - qp_.sq_wqebbs) : Status::kOk;
    const bool again = !cq_.error().ok();  // what was asked for is free, but the next reservation must see the error
    const std::uint64_t room_now = again ? need : cq_.ci() + qp_.sq_wqebbs - reserved();
    if (status == Status::kOk) posted_.set_room(static_cast<std::uint32_t>(room_now));
    return status;
  }
  /// \param end  what must be complete.
  template <class Team>
  MARROW_HD Status make_room(const Team& team, std::uint64_t end) {
    if (is_past<P>(end, posted_.pi())) return Status::kQueueFull;
    if constexpr (P::credit == Credit::kTry) {
      posted_.meet(team);
      flush(team);
      if (team.rank() == 0) cq_.poll(qp_, posted_.pi(), Ticket{~0ull, end, Status::kOk}, probe());
      cq_.share(team);
      if (!cq_.error().ok()) {
        posted_.set_room(0);
        return cq_.error().status;
      }
      return is_past<P>(end, cq_.ci()) ? Status::kQueueFull : Status::kOk;
    }
    return await(team, Ticket{~0ull, end, Status::kOk}).status;
  }
  template <class Team>
  MARROW_HD void ring_all(const Team& team) {
    if (team.rank() == 0) announce<P>(qp_, posted_.pi(), probe());
    posted_.set_rung(team, posted_.pi());
    posted_.meet(team);
  }

  /// The leader polls; all lanes leave with the same indices.
  template <class Team>
  MARROW_HD Result await(const Team& team, const Ticket& target) {
    const bool done = cq_.ci() >= target.end;
    posted_.meet(team);
    if (done) return {};
    flush(team);
    if (team.rank() == 0) spin(target);
    cq_.share(team);
    if (!cq_.error().ok()) posted_.set_room(0);
    if (!is_past<P>(target.end, cq_.ci())) return {};
    return cq_.error().ok() ? Result{Status::kTimeout} : cq_.error();
  }
  MARROW_HD void spin(const Ticket& target) {
    Spins spins;
    while (is_past<P>(target.end, cq_.ci()) && cq_.error().ok()) {
      if (!cq_.poll(qp_, posted_.pi(), target, probe()) && spins.exceed(qp_.timeout_ns)) return;
    }
  }

  std::uint32_t open_ = 0;  // WQEBBs promised to slots and not submitted
  Posted<kLean<P>, kDefers<P>> posted_;
  CompletionQueue<P> cq_;
};

}  // namespace marrow::gda
