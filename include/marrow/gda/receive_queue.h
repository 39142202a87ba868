// SPDX-License-Identifier: Apache-2.0
// Beside the nine stops: the far end of a write with immediate, where the bytes' arrival is told by a CQE. The payload
// of everything that the sender posted before is there when wait() returns.
//
//   gda::ReceiveQueue rq{ring};
//   rq.post(16);                       // so many may come; the sender is told "not ready" beyond
//   const auto notice = rq.wait();     // the next one's immediate
//
// Facts: receive record and CQEs of immediates [dv]; receives are taken in order [prm].
#pragma once

#include <cstddef>
#include <cstdint>

#include "marrow/gda/completion_queue.h"
#include "marrow/gda/team.h"

namespace marrow::gda {

/// An immediate that came. Without success in `result` there is none.
struct Notice {
  Result result;
  std::uint32_t imm = 0;    // as the sender gave it
  std::uint32_t bytes = 0;  // that the write brought
};

/// In the hands of one lane. Indices live here and go back to ReceiveRing::counters when the object ends.
class ReceiveQueue {
 public:
  MARROW_HD explicit ReceiveQueue(const ReceiveRing& ring)
      : ring_(ring), posted_(ring.counters->posted), taken_(ring.counters->taken) {}
  ReceiveQueue(const ReceiveQueue&) = delete;
  ReceiveQueue& operator=(const ReceiveQueue&) = delete;
  MARROW_HD ~ReceiveQueue() {
    ring_.counters->posted = posted_;
    ring_.counters->taken = taken_;
  }

  /// Lets `n` more come. False, and nothing done, where more would be out than the ring holds.
  MARROW_HD bool post(std::uint32_t n) {
    if (posted_ + n - taken_ > ring_.wqes) return false;
    posted_ += n;
    store_receive_dbrec(ring_.dbrec_recv, posted_);
    return true;
  }

  /// Until the next one, an error, or ReceiveRing::timeout_ns; kBadRequest where no receive is posted.
  [[nodiscard]] MARROW_HD Notice wait() {
    if (posted_ == taken_) return {{Status::kBadRequest}};
    Spins spins;
    const std::byte* const cqe = ring_.cq + (taken_ & (ring_.wqes - 1)) * wire::kCqeBytes;
    std::uint32_t word = load_cqe_tail<R>(cqe);
    while (!wire::cqe_is_valid(wire::CqeTail::from_word(word).op_own, taken_, log_wqes())) {
      if (spins.exceed(ring_.timeout_ns)) return {{Status::kTimeout}};
      word = load_cqe_tail<R>(cqe);
    }
    order_cqe_before_payload<R>();
    ++taken_;
    if (wire::CqeTail::from_word(word).opcode() != wire::CqeOpcode::kRecvWriteImm) return {decode_error<R>(cqe, word)};
    return {{},
            wire::swap_bytes(load_word<R>(cqe + offsetof(wire::Cqe, imm))),
            wire::swap_bytes(load_word<R>(cqe + offsetof(wire::Cqe, byte_count)))};
  }

 private:
  static constexpr Recipe R = recipe_of(Ordering::kSystemFence);

  [[nodiscard]] MARROW_HD std::uint32_t log_wqes() const {
    std::uint32_t log = 0;
    while ((1u << log) < ring_.wqes) ++log;
    return log;
  }

  ReceiveRing ring_;
  std::uint64_t posted_;
  std::uint64_t taken_;
};

}  // namespace marrow::gda
