// SPDX-License-Identifier: Apache-2.0
// Stop 9 of 9: CQEs into progress. Order of the tests: valid, error, which WQE; an error is looked for in every CQE.
// Facts: wqe_counter is the first WQEBB of the WQE; one CQE stands for all WQEs before it; on a collapsed CQ a flush
// overwrites the root cause some 60 us later [obs: CX-6]; owner bit [dv: get_sw_cqe].
#pragma once

#include <cstdint>

#include "marrow/gda/order.h"
#include "marrow/gda/probe.h"
#include "marrow/gda/requests.h"
#include "marrow/gda/residence.h"

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

/// The consumer's half of a queue. One lane polls; share() tells the others.
/// Progress is exact although a CQE holds 16 bits and names only a first WQEBB: `pi - counter` cannot exceed the ring
/// (at most 2^15), so the 64-bit index is unique, and anything outside [ci, pi) is an old CQE. The WQE's size comes
/// from the ticket or, when another WQE completed, from its own control segment, which nobody may overwrite yet.
template <PolicyType P>
class CompletionQueue : Progress<kLean<P>> {
  using Base = Progress<kLean<P>>;
  using Base::at;
  using Index = IndexOf<P>;

 public:
  using Base::Base;
  using Base::share;

  /// WQEBBs known to be complete without error.
  [[nodiscard]] MARROW_HD std::uint64_t ci() const { return at().ci; }
  [[nodiscard]] MARROW_HD std::uint64_t cqes() const { return at().cqes; }
  /// The first error; later ones (flushes) never replace it.
  [[nodiscard]] MARROW_HD const Result& error() const { return at().error; }

  [[nodiscard]] MARROW_HD const std::byte* cqe_at(const Qp& qp) const {
    return qp.cq + (is_ring(qp) ? (static_cast<Index>(at().cqes) & qp.cq_mask()) * Index{wire::kCqeBytes} : 0);
  }

  /// Looks at one CQE. True when it was new. \param pi  WQEBBs posted; with Residence::kMemory the counters say it.
  template <class Probe>
  MARROW_HD bool poll(const Qp& qp, std::uint64_t pi, const Ticket& awaited, Probe& probe) {
    const std::uint32_t word = load_cqe_tail<R>(cqe_at(qp));
    const auto tail = wire::CqeTail::from_word(word);
    if (!is_valid(qp, tail)) return false;
    const Index behind_pi = static_cast<std::uint16_t>(posted(pi) - tail.wqe_counter);
    const Index first = posted(pi) - behind_pi;
    const bool ours = behind_pi != 0 && behind_pi <= static_cast<Index>(posted(pi) - at().ci);
    const bool good = tail.opcode() == wire::CqeOpcode::kRequester;
    if (!is_ring(qp) && good && !ours) return false;  // the CQE of an operation that we know of already

    order_cqe_before_payload<R>();
    if constexpr (R.poll != Scope::kNone) probe.on_acquire(R.poll);
    probe.on_cqe();
    if (good && ours) advance_to(kLean<P> || first != awaited.signalled ? first + size_at(qp, first) : awaited.end);
    if (!good) {
      if (at().error.ok()) at().error = decode_error<R>(cqe_at(qp), word);
      // The first failure tells that all before it went well; a flush in its place tells nothing.
      const Result& error = at().error;
      if (ours && error.status != Status::kFlushed && error.wqe_counter == tail.wqe_counter) advance_to(first);
    }
    ++at().cqes;
    if constexpr (P::completion.record == CqRecord::kConsumer) store_cq_consumer(qp.cq_consumer, at().cqes);
    return true;
  }

 private:
  static constexpr Recipe R = recipe_for<P>();

  [[nodiscard]] MARROW_HD static bool is_ring(const Qp& qp) { return qp.cq_layout == CqLayout::kRing; }
  [[nodiscard]] MARROW_HD bool is_valid(const Qp& qp, const wire::CqeTail& tail) const {
    return is_ring(qp) ? wire::cqe_is_valid(tail.op_own, static_cast<Index>(at().cqes), qp.log_cqes)
                       : tail.opcode() != wire::CqeOpcode::kInvalid;
  }
  [[nodiscard]] MARROW_HD Index posted([[maybe_unused]] std::uint64_t pi) const {
    if constexpr (kLean<P>)
      return static_cast<Index>(at().pi);
    else
      return pi;
  }
  MARROW_HD void advance_to(Index ci) { at().ci += static_cast<Index>(ci - static_cast<Index>(at().ci)); }
  /// Where nothing that we post is longer the answer is known, but to the lean: they have no ticket to correct it by.
  [[nodiscard]] MARROW_HD static std::uint32_t size_at(const Qp& qp, std::uint64_t first) {
    if constexpr (kShortWqes<P> && !kLean<P>) return 1;
    const auto* ctrl = qp.sq + (first & qp.sq_mask()) * wire::kWqebbBytes;
    const auto qpn_ds = load_word<R>(ctrl + offsetof(wire::CtrlSegment, qpn_ds));
    return wire::wqebbs_of(wire::swap_bytes(qpn_ds) & 0x3f);
  }
};

/// The words in memory that a dump shows: the record, and the CQE at `cqe`.
template <PolicyType P>
MARROW_HD void fill_dump(QueueDump& d, const std::byte* cqe) {
  constexpr Recipe R = recipe_for<P>();
  d.dbrec_raw = load_word<R>(reinterpret_cast<const std::byte*>(d.qp.dbrec_send));
  for (std::uint32_t i = 0; i < wire::kCqeBytes / 4; ++i) d.cqe_words[i] = load_word<R>(cqe + 4 * i);
}

}  // namespace marrow::gda
