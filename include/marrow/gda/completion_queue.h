// SPDX-License-Identifier: Apache-2.0
// Stop 9 of 9: CQEs into progress. Order of the tests: valid, error, which WQE; an error is looked for in every CQE.
// Facts: wqe_counter is the first WQEBB of the WQE; one CQE stands for all WQEs before it; on a collapsed CQ a flush
// overwrites the root cause some 60 us later [obs: CX-6]; owner bit [dv: get_sw_cqe].
#pragma once

#include <cstdint>

#include "marrow/gda/order.h"
#include "marrow/gda/probe.h"
#include "marrow/gda/requests.h"

namespace marrow::gda {

/// The consumer's half of a queue, in registers. One lane polls; the others get copies (Team::broadcast).
/// Progress is exact although a CQE holds 16 bits and names only a first WQEBB: `pi - counter` cannot exceed the ring
/// (at most 2^15), so the 64-bit index is unique, and anything outside [ci, pi) is an old CQE. The WQE's size comes
/// from the ticket or, when another WQE completed, from its own control segment, which nobody may overwrite yet.
template <PolicyType P>
class CompletionQueue {
 public:
  MARROW_HD explicit CompletionQueue(const QpCounters& c) : ci_(c.ci), cqes_(c.cqes), error_(c.error) {}

  /// WQEBBs known to be complete without error.
  [[nodiscard]] MARROW_HD std::uint64_t ci() const { return ci_; }
  [[nodiscard]] MARROW_HD std::uint64_t cqes() const { return cqes_; }
  /// The first error; later ones (flushes) never replace it.
  [[nodiscard]] MARROW_HD const Result& error() const { return error_; }

  [[nodiscard]] MARROW_HD const std::byte* cqe_at(const Qp& qp) const {
    return qp.cq + (qp.cq_layout == CqLayout::kRing ? (cqes_ & qp.cq_mask()) * wire::kCqeBytes : 0);
  }

  /// Looks at one CQE. True when it was new. \param pi  WQEBBs posted.
  template <class Probe>
  MARROW_HD bool poll(const Qp& qp, std::uint64_t pi, const Ticket& awaited, Probe& probe) {
    const bool ring = qp.cq_layout == CqLayout::kRing;
    const std::byte* cqe = cqe_at(qp);
    const std::uint32_t word = load_cqe_tail<P::ordering>(cqe);
    const auto tail = wire::CqeTail::from_word(word);
    if (ring ? !wire::cqe_is_valid(tail.op_own, cqes_, qp.log_cqes) : tail.opcode() == wire::CqeOpcode::kInvalid) {
      return false;
    }
    const std::uint64_t behind_pi = static_cast<std::uint16_t>(pi - tail.wqe_counter);
    const std::uint64_t first = pi - behind_pi;
    const bool ours = behind_pi != 0 && behind_pi <= pi - ci_;
    const bool good = tail.opcode() == wire::CqeOpcode::kRequester;
    if (!ring && good && !ours) return false;  // the CQE of an operation that we know of already

    order_cqe_before_payload<P::ordering>();
    if constexpr (recipe_of(P::ordering).poll != Scope::kNone) probe.on_acquire(recipe_of(P::ordering).poll);
    probe.on_cqe();
    ++cqes_;
    if (good) {
      if (ours) ci_ = first == awaited.signalled ? awaited.end : first + size_at(qp, first);
      return true;
    }
    if (error_.ok()) error_ = decode_error(cqe, word);
    // The first failure tells that all before it went well; a flush in its place tells nothing.
    if (ours && error_.status != Status::kFlushed && error_.wqe_counter == tail.wqe_counter) ci_ = first;
    return true;
  }

 private:
  [[nodiscard]] MARROW_HD static std::uint32_t size_at(const Qp& qp, std::uint64_t first) {
    if constexpr (P::max_inline_bytes <= wire::max_inline_write(1)) return 1;  // nothing that we post is longer
    const auto* ctrl = qp.sq + (first & qp.sq_mask()) * wire::kWqebbBytes;
    const auto qpn_ds = load_word<P::ordering>(ctrl + offsetof(wire::CtrlSegment, qpn_ds));
    return wire::wqebbs_of(wire::swap_bytes(qpn_ds) & 0x3f);
  }

  /// Reads the error bytes, again if a flush replaced the CQE meanwhile: what may follow then is another flush, with
  /// the same bytes. An opcode that is no requester's is an error too.
  [[nodiscard]] MARROW_HD static Result decode_error(const std::byte* cqe, std::uint32_t word) {
    const auto* at = cqe + offsetof(wire::Cqe, hw_error_syndrome);
    auto bytes = load_word<P::ordering>(at);
    order_cqe_before_payload<P::ordering>();
    const auto again = load_cqe_tail<P::ordering>(cqe);
    if (again != word) bytes = load_word<P::ordering>(at);
    word = again;
    const auto tail = wire::CqeTail::from_word(word);
    const auto syndrome = static_cast<std::uint8_t>(bytes >> 24);
    const bool error =
        tail.opcode() == wire::CqeOpcode::kRequesterError || tail.opcode() == wire::CqeOpcode::kResponderError;
    return {error ? status_of(static_cast<wire::Syndrome>(syndrome)) : Status::kUnknownError, syndrome,
            static_cast<std::uint8_t>(bytes >> 16), tail.wqe_counter};
  }

  std::uint64_t ci_;
  std::uint64_t cqes_;
  Result error_;
};

}  // namespace marrow::gda
