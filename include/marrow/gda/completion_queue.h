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

/// Reads the error bytes, again if a flush replaced the CQE meanwhile: what may follow then is another flush, with
/// the same bytes. An opcode that is no requester's is an error too.
template <Recipe R>
[[nodiscard]] MARROW_HD Result decode_error(const std::byte* cqe, std::uint32_t word) {
  const auto* at = cqe + offsetof(wire::Cqe, hw_error_syndrome);
  auto bytes = load_word<R>(at);
  order_cqe_before_payload<R>();
  const auto again = load_cqe_tail<R>(cqe);
  if (again != word) bytes = load_word<R>(at);
  word = again;
  const auto tail = wire::CqeTail::from_word(word);
  const auto syndrome = static_cast<std::uint8_t>(bytes >> 24);
  const bool error =
      tail.opcode() == wire::CqeOpcode::kRequesterError || tail.opcode() == wire::CqeOpcode::kResponderError;
  return {error ? status_of(static_cast<wire::Syndrome>(syndrome)) : Status::kUnknownError, syndrome,
          static_cast<std::uint8_t>(bytes >> 16), tail.wqe_counter};
}

/// The consumer's half of a queue, in registers. One lane polls; the others get copies (Team::broadcast).
/// Progress is exact although a CQE holds 16 bits and names only a first WQEBB: `pi - counter` cannot exceed the ring
/// (at most 2^15), so the 64-bit index is unique, and anything outside [ci, pi) is an old CQE. The WQE's size comes
/// from the ticket or, when another WQE completed, from its own control segment, which nobody may overwrite yet.
template <PolicyType P>
class CompletionQueue {
 public:
  MARROW_HD explicit CompletionQueue(const QpIndices& c) : ci_(c.ci), cqes_(c.cqes), error_(c.error) {}

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
    const std::uint32_t word = load_cqe_tail<recipe_for<P>()>(cqe);
    const auto tail = wire::CqeTail::from_word(word);
    if (ring ? !wire::cqe_is_valid(tail.op_own, cqes_, qp.log_cqes) : tail.opcode() == wire::CqeOpcode::kInvalid) {
      return false;
    }
    const std::uint64_t behind_pi = static_cast<std::uint16_t>(pi - tail.wqe_counter);
    const std::uint64_t first = pi - behind_pi;
    const bool ours = behind_pi != 0 && behind_pi <= pi - ci_;
    const bool good = tail.opcode() == wire::CqeOpcode::kRequester;
    if (!ring && good && !ours) return false;  // the CQE of an operation that we know of already

    order_cqe_before_payload<recipe_for<P>()>();
    if constexpr (recipe_for<P>().poll != Scope::kNone) probe.on_acquire(recipe_for<P>().poll);
    probe.on_cqe();
    ++cqes_;
    if constexpr (P::completion.record == CqRecord::kConsumer) store_cq_consumer(qp.cq_consumer, cqes_);
    if (good) {
      if (ours) ci_ = first == awaited.signalled ? awaited.end : first + size_at(qp, first);
      return true;
    }
    if (error_.ok()) error_ = decode_error<recipe_for<P>()>(cqe, word);
    // The first failure tells that all before it went well; a flush in its place tells nothing.
    if (ours && error_.status != Status::kFlushed && error_.wqe_counter == tail.wqe_counter) ci_ = first;
    return true;
  }

 private:
  [[nodiscard]] MARROW_HD static std::uint32_t size_at(const Qp& qp, std::uint64_t first) {
    if constexpr (kShortWqes<P>) return 1;  // nothing that we post is longer
    const auto* ctrl = qp.sq + (first & qp.sq_mask()) * wire::kWqebbBytes;
    const auto qpn_ds = load_word<recipe_for<P>()>(ctrl + offsetof(wire::CtrlSegment, qpn_ds));
    return wire::wqebbs_of(wire::swap_bytes(qpn_ds) & 0x3f);
  }

  std::uint64_t ci_;
  std::uint64_t cqes_;
  Result error_;
};

/// The words in memory that a dump shows: the record, and the CQE at `cqe`.
template <PolicyType P>
MARROW_HD void fill_dump(QueueDump& d, const std::byte* cqe) {
  constexpr Recipe R = recipe_for<P>();
  d.dbrec_raw = load_word<R>(reinterpret_cast<const std::byte*>(d.qp.dbrec_send));
  for (std::uint32_t i = 0; i < wire::kCqeBytes / 4; ++i) d.cqe_words[i] = load_word<R>(cqe + 4 * i);
}

}  // namespace marrow::gda
