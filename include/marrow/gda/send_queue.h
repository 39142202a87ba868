// SPDX-License-Identifier: Apache-2.0
// Stops 1 and 2 of 9: the four verbs, each a phase of the hardware's protocol. reserve: room; write: bytes; submit:
// order and doorbell; wait: CQE. A failure stays in the chain (Slots, Ticket, Result), so a lane need only look at the
// end.
//
//   gda::SendQueue<gda::GpuFence> sq{qp};
//   const auto slots = sq.reserve(team, team.size());
//   sq.write(slots[team.rank()], {.to = peer + at, .from = row + at, .bytes = 8});
//   const auto result = sq.wait(team, sq.submit(team, slots));
//
// Facts: WQEs may cross the end of the ring at any 16-byte segment [dv: qp.c]; indices count WQEBBs [prm].
#pragma once

#include <cstdint>

#include "marrow/gda/completion_queue.h"
#include "marrow/gda/order.h"
#include "marrow/gda/probe.h"
#include "marrow/gda/requests.h"
#include "marrow/gda/team.h"

namespace marrow::gda {

/// A send queue in the hands of one team. Every lane of the team holds one, and all make each call that takes the team;
/// write and its kin are called by one lane a slot, in any order. Indices live in registers and go back to
/// Qp::counters when the object ends. Submits must follow the order of their reservations.
template <PolicyType P, class Probe = NoProbe>
class SendQueue {
  static_assert(CheckPolicy<P, kLane>::ok);
  static constexpr Ordering O = P::ordering;

 public:
  MARROW_HD explicit SendQueue(const Qp& qp) : qp_(qp), reserved_(qp.counters->pi), pi_(reserved_), cq_(*qp.counters) {}
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;
  MARROW_HD ~SendQueue() {
    auto& c = *qp_.counters;  // each lane stores the same
    c.pi = pi_;
    c.ci = cq_.ci();
    c.cqes = cq_.cqes();
    if (!refused_) c.error = cq_.error();
  }

  /// Waits until the SQ has room; each slot must then be written. Cost with room: arithmetic on registers.
  /// Errors: kBadRequest (more than the ring holds), kQueueFull (full of WQEs that were never submitted), kTimeout, or
  /// the error that the queue has met before.
  template <class Team>
  MARROW_HD Slots reserve(const Team& team, Room room) {
    probe_.on_stage(Stage::kCaller);
    const std::uint64_t need = std::uint64_t{room.wqes} * room.wqebbs;
    if (need == 0 || need > qp_.sq_wqebbs || room.wqebbs > kMaxWqebbs) return {.status = Status::kBadRequest};
    if (!cq_.error().ok()) return {.status = cq_.error().status};
    if (reserved_ + need > cq_.ci() + qp_.sq_wqebbs) {
      const std::uint64_t end = reserved_ + need - qp_.sq_wqebbs;
      if (end > pi_) return {.status = Status::kQueueFull};
      const Result result = await(team, Ticket{~0ull, end, Status::kOk});
      if (!result.ok()) return {.status = result.status};
    }
    const Slots slots{reserved_, room, Status::kOk, P::completion.signal};
    reserved_ += need;
    probe_.on_stage(Stage::kReserve);
    return slots;
  }
  template <class Team>
  MARROW_HD Slots reserve(const Team& team, std::uint32_t wqes) {
    return reserve(team, Room{wqes, 1});
  }

  /// RDMA write as the policy's Payload says: inline or by pointer. Cost: one 16-byte store a segment (3 for 8 bytes).
  /// Errors: none here. A wrong length or slot size posts a NOP and makes wait() return kBadRequest.
  MARROW_HD void write(const Slot& slot, const Put& put) {
    if constexpr (P::payload == Payload::kInline) {
      write_inline(slot, put.to, reinterpret_cast<const std::byte*>(put.from.addr), put.bytes);
    } else {
      transfer(slot, wire::Opcode::kWrite, put);
    }
  }

  /// RDMA write of `bytes` at `from`, memory that the lane can read and may reuse at once.
  MARROW_HD void write_inline(const Slot& slot, Remote to, const std::byte* from, std::uint32_t bytes) {
    const bool fits = bytes <= P::max_inline_bytes && bytes <= qp_.max_inline_bytes;
    if (!fits || slot.wqebbs != inline_write_wqebbs(bytes)) return refuse(slot);
    const std::uint32_t ds = 2 + wire::inline_ds(bytes);
    start(slot, wire::Opcode::kWrite, ds, to);
    Segment s{{wire::inline_header(bytes).flag_bytes.raw}};
    std::uint32_t word = 1;  // of the segment: the header was word 0
    for (std::uint32_t k = 2, at = 0; k < ds; ++k, word = 0) {
      for (; word < 4; ++word, at += 4) s.words[word] = at < bytes ? payload_word(from + at, bytes - at) : 0;
      store_segment(segment(slot.wqebb, k), s);
    }
    done(ds);
  }

  /// RDMA write of 8 bytes from a register: no load at all.
  MARROW_HD void write_value(const Slot& slot, Remote to, std::uint64_t value) {
    if (slot.wqebbs != 1) return refuse(slot);
    start(slot, wire::Opcode::kWrite, 3, to);
    store_segment(segment(slot.wqebb, 2), {{wire::inline_header(8).flag_bytes.raw, static_cast<std::uint32_t>(value),
                                            static_cast<std::uint32_t>(value >> 32), 0}});
    done(3);
  }

  /// RDMA read: `to` holds the bytes once wait() has returned.
  MARROW_HD void read(const Slot& slot, const Get& get) {
    transfer(slot, wire::Opcode::kRead, {get.from, get.to, get.bytes});
  }
  MARROW_HD void fetch_add(const Slot& slot, const FetchAdd& op) {
    atomic(slot, op.at, op.result, {wire::Opcode::kFetchAdd, op.add, 0});
  }
  MARROW_HD void compare_swap(const Slot& slot, const CompareSwap& op) {
    atomic(slot, op.at, op.result, {wire::Opcode::kCompareSwap, op.swap, op.compare});
  }

  /// WQEs | order | dbrec | order | doorbell, once per Batching::wqes_per_doorbell WQEs; the last doorbell covers all.
  /// Errors: in the ticket. kBadRequest for slots that are not the oldest reservation.
  template <class Team>
  MARROW_HD Ticket submit(const Team& team, const Slots& slots) {
    if (!slots.ok()) return {.status = slots.status};
    if (slots.first != pi_) return {.status = Status::kBadRequest};
    probe_.on_stage(Stage::kCaller);
    team.sync();
    pi_ = slots.end();
    if (team.rank() == 0) {
      constexpr std::uint32_t kBatch = P::batching.wqes_per_doorbell;
      for (std::uint32_t left = slots.room.wqes; left > 0;) {
        left -= kBatch == 0 || kBatch > left ? left : kBatch;
        announce(pi_ - std::uint64_t{left} * slots.room.wqebbs);
      }
    }
    return {pi_ - slots.room.wqebbs, pi_, Status::kOk};
  }

  /// Until the ticket's CQE, an error, or Qp::timeout_ns. kOk: sources may be reused, results of reads and atomics are
  /// there. After the first error every later wait returns that error; a ticket that had completed before it is kOk.
  template <class Team>
  MARROW_HD Result wait(const Team& team, const Ticket& ticket) {
    if (ticket.status != Status::kOk) return {ticket.status};
    probe_.on_stage(Stage::kCaller);
    const Result result = team.any(refused_) ? Result{Status::kBadRequest} : await(team, ticket);
    probe_.on_stage(Stage::kWait);
    return result;
  }
  /// Waits for everything submitted on this queue.
  template <class Team>
  MARROW_HD Result drain(const Team& team) {
    return wait(team, Ticket{~0ull, pi_, Status::kOk});
  }

  [[nodiscard]] MARROW_HD QueueDump dump() const {
    QueueDump d{qp_, {pi_, cq_.ci(), cq_.cqes(), cq_.error()}, reserved_};
    d.dbrec_raw = load_word<O>(reinterpret_cast<const std::byte*>(qp_.dbrec_send));
    const auto* cqe = cq_.cqe_at(qp_);
    for (std::uint32_t i = 0; i < wire::kCqeBytes / 4; ++i) d.cqe_words[i] = load_word<O>(cqe + 4 * i);
    return d;
  }
  [[nodiscard]] MARROW_HD Probe& probe() { return probe_; }

 private:
  /// The leader polls; all lanes leave with the same indices.
  template <class Team>
  MARROW_HD Result await(const Team& team, const Ticket& target) {
    if (cq_.ci() >= target.end) return {};
    bool expired = false;
    if (team.rank() == 0) {
      SpinLimit limit(qp_.timeout_ns);
      while (cq_.ci() < target.end && cq_.error().ok() && !expired) {
        if (!cq_.poll(qp_, pi_, target, probe_)) expired = limit.expired();
      }
    }
    cq_ = team.broadcast(cq_);
    if (cq_.ci() >= target.end) return {};
    return cq_.error().ok() ? Result{Status::kTimeout} : cq_.error();
  }

  MARROW_HD void announce(std::uint64_t pi) {
    constexpr Recipe kRecipe = recipe_of(O);
    order_wqe_before_dbrec<O>();
    if constexpr (kRecipe.before_dbrec != FenceKind::kNone) probe_.on_fence(kRecipe.before_dbrec);
    store_dbrec<O>(qp_.dbrec_send, pi);
    probe_.on_dbrec(kRecipe.dbrec);
    order_dbrec_before_doorbell<O>(qp_.doorbell_mapping);
    if constexpr (kRecipe.before_doorbell != FenceKind::kNone) probe_.on_fence(kRecipe.before_doorbell);
    probe_.on_stage(Stage::kOrder);
    ring_doorbell<O>(qp_, pi);
    probe_.on_doorbell(kRecipe.doorbell);
    probe_.on_stage(Stage::kDoorbell);
  }

  /// Address of segment `k`; a WQE of one WQEBB never crosses the end of the ring.
  [[nodiscard]] MARROW_HD std::byte* segment(std::uint64_t wqebb, std::uint32_t k) const {
    const auto at = (wqebb + k / 4) & qp_.sq_mask();
    return qp_.sq + at * wire::kWqebbBytes + k % 4 * wire::kDsBytes;
  }
  template <class WireSegment>
  MARROW_HD void store(const Slot& slot, std::uint32_t k, const WireSegment& from) {
    static_assert(sizeof(WireSegment) == sizeof(Segment));
    Segment s;
    memcpy(&s, &from, sizeof s);
    store_segment(segment(slot.wqebb, k), s);
  }
  MARROW_HD void start(const Slot& slot, wire::Opcode opcode, std::uint32_t ds, Remote remote) {
    probe_.on_stage(Stage::kCaller);
    const wire::Post post{qp_.qpn, static_cast<std::uint32_t>(slot.wqebb), slot.completion};
    store(slot, 0, wire::ctrl_segment(post, opcode, ds));
    if (ds > 1) store(slot, 1, wire::remote_segment({remote.addr, remote.rkey}));
  }
  MARROW_HD void done(std::uint32_t ds) {
    probe_.on_wqe(ds);
    probe_.on_stage(Stage::kWrite);
  }

  /// Write, or read: then `to` is the source. A byte count of 0 in a data segment would mean 2^31: a transfer of
  /// nothing has none.
  MARROW_HD void transfer(const Slot& slot, wire::Opcode opcode, const Put& t) {
    if (slot.wqebbs != 1 || t.bytes >= wire::kInlineFlag) return refuse(slot);
    const std::uint32_t ds = t.bytes == 0 ? 2 : 3;
    start(slot, opcode, ds, t.to);
    if (t.bytes != 0) store(slot, 2, wire::data_segment({t.from.addr, t.from.lkey}, t.bytes));
    done(ds);
  }
  MARROW_HD void atomic(const Slot& slot, Remote at, Local result, const wire::AtomicOp& op) {
    if (slot.wqebbs != 1) return refuse(slot);
    start(slot, op.opcode, 4, at);
    store(slot, 2, wire::AtomicSegment{wire::be64(op.swap_add), wire::be64(op.compare)});
    store(slot, 3, wire::data_segment({result.addr, result.lkey}, 8));
    done(4);
  }

  /// The slot becomes a NOP of its full size, so that the queue goes on; the lane remembers.
  MARROW_HD void refuse(const Slot& slot) {
    if (slot.wqebbs == 0) return;
    refused_ = true;
    if (slot.wqebbs > kMaxWqebbs) return;  // beyond the reservation
    start(slot, wire::Opcode::kNop, slot.wqebbs == 1 ? 1 : slot.wqebbs * 4, {});
    done(1);
  }

  /// Up to four bytes of payload as they lie in memory. Inline payload is only 4-byte aligned in the WQE.
  [[nodiscard]] MARROW_HD static std::uint32_t payload_word(const std::byte* from, std::uint32_t left) {
    std::uint32_t word = 0;
    if (left >= 4 && reinterpret_cast<std::uintptr_t>(from) % 4 == 0) {
      memcpy(&word, __builtin_assume_aligned(from, 4), 4);
    } else {
      memcpy(&word, from, left < 4 ? left : 4);
    }
    return word;
  }

  Qp qp_;
  std::uint64_t reserved_;  // WQEBBs promised to slots; >= pi_
  std::uint64_t pi_;        // WQEBBs rung
  CompletionQueue<P> cq_;
  bool refused_ = false;
  [[no_unique_address]] Probe probe_;
};

}  // namespace marrow::gda
