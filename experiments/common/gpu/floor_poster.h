// SPDX-License-Identifier: Apache-2.0
// The floor under "issue": the stores of one put, the ordering's fences and the doorbell in a straight line, and
// nothing else. What no poster can have ready is computed between the stamps: the slot's address and the WQE's index,
// record and doorbell, from a counter of its own. What does not change, target and payload segment, is ready before. No
// room is looked for, no slot is checked, nothing is remembered. What mini-gda takes longer than this is its own.
#pragma once

#include <cstdint>
#include <cstring>

#include "experiments/common/poster.h"
#include "marrow/gda/order.h"
#include "marrow/gda/team.h"

namespace marrow::experiments {

/// 8 bytes inline, or any length by pointer, on a queue with a collapsed CQ, one put at a time.
template <gda::PolicyType P>
class FloorPoster {
  static constexpr gda::Recipe R = gda::recipe_for<P>();

 public:
  using Policy = P;

  MARROW_HD FloorPoster(const gda::Qp& qp, const Route& route) : qp_(qp), route_(route), pi_(qp.counters->pi) {
    remote_ = segment_of(wire::remote_segment({route.to.addr, route.to.rkey}));
  }
  FloorPoster(const FloorPoster&) = delete;
  FloorPoster& operator=(const FloorPoster&) = delete;
  MARROW_HD ~FloorPoster() {
    auto& c = *qp_.counters;
    c.cqes += pi_ - c.pi;
    c.pi = c.ci = pi_;
    c.error = result_;
  }

  MARROW_HD void prepare(std::uint64_t word) {
    if constexpr (P::payload == gda::Payload::kInline) {
      last_ = {{wire::inline_header(8).flag_bytes.raw, static_cast<std::uint32_t>(word),
                static_cast<std::uint32_t>(word >> 32U), 0}};
    } else {
      last_ = segment_of(wire::data_segment({route_.from.addr, route_.from.lkey}, route_.bytes));
    }
  }

  MARROW_HD void post() noexcept {
    auto* const wqe = qp_.sq + (pi_ & qp_.sq_mask()) * wire::kWqebbBytes;
    const wire::Post post{qp_.qpn, static_cast<std::uint32_t>(pi_), wire::Completion::kAlways};
    gda::store_segment(wqe, segment_of(wire::ctrl_segment(post, wire::Opcode::kWrite, 3)));
    gda::store_segment(wqe + wire::kDsBytes, remote_);
    gda::store_segment(wqe + 2 * wire::kDsBytes, last_);
    ++pi_;
    gda::order_wqe_before_dbrec<R>();
    gda::store_dbrec<R>(qp_.dbrec_send, pi_);
    gda::order_dbrec_before_doorbell<R>(qp_.doorbell_mapping);
    gda::ring_doorbell<R>(qp_, pi_);
  }

  [[nodiscard]] MARROW_HD bool wait() noexcept {
    gda::SpinLimit limit(qp_.timeout_ns);
    for (;;) {
      const auto tail = wire::CqeTail::from_word(gda::load_cqe_tail<R>(qp_.cq));
      const bool ours = tail.wqe_counter == static_cast<std::uint16_t>(pi_ - 1);
      if (tail.opcode() == wire::CqeOpcode::kRequester && ours) return true;
      const bool error = tail.opcode() != wire::CqeOpcode::kRequester && tail.opcode() != wire::CqeOpcode::kInvalid;
      if (error) result_.status = gda::Status::kUnknownError;
      if (!error && limit.expired()) result_.status = gda::Status::kTimeout;
      if (!result_.ok()) return false;
    }
  }

  [[nodiscard]] MARROW_HD const gda::Result& result() const noexcept { return result_; }

 private:
  template <class WireSegment>
  [[nodiscard]] MARROW_HD static gda::Segment segment_of(const WireSegment& from) {
    static_assert(sizeof(WireSegment) == sizeof(gda::Segment));
    gda::Segment s;
    memcpy(&s, &from, sizeof s);
    return s;
  }

  gda::Qp qp_;
  Route route_;
  std::uint64_t pi_;
  gda::Segment remote_{};
  gda::Segment last_{};
  gda::Result result_{};
};

}  // namespace marrow::experiments
