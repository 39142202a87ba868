// SPDX-License-Identifier: Apache-2.0
// What a lane is given: raw pointers to queues that the host made (src/verbs), plain data passed to kernels by value.
// Before stop 1 of 9 (docs/one-message.md). Facts: alignment and units [dv]; ring limit [prm].
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "marrow/gda/axes.h"
#include "marrow/gda/status.h"
#include "marrow/wire/cqe.h"
#include "marrow/wire/doorbell.h"
#include "marrow/wire/wqe.h"

namespace marrow::gda {

/// Registered memory of this side: `addr` is what the mkey was registered with, and what the lane can load from.
struct Local {
  std::uint64_t addr = 0;
  std::uint32_t lkey = 0;

  friend MARROW_HD constexpr Local operator+(Local at, std::uint64_t bytes) { return {at.addr + bytes, at.lkey}; }
};

/// Registered memory of the peer.
struct Remote {
  std::uint64_t addr = 0;
  std::uint32_t rkey = 0;

  friend MARROW_HD constexpr Remote operator+(Remote at, std::uint64_t bytes) { return {at.addr + bytes, at.rkey}; }
};

/// How the UAR page reached the lane's address space. A host lane needs `sfence` around a write-combining store.
/// kForwarded: it did not; Qp::doorbell is a word that a host thread reads.
enum class DoorbellMapping : std::uint8_t { kUncached, kWriteCombining, kOrdinaryMemory, kForwarded };

/// Where a queue stands. All indices are 64-bit, free-running, and count WQEBBs.
struct QpIndices {
  std::uint64_t pi = 0;    // posted: the next free one
  std::uint64_t ci = 0;    // known to be complete, always <= pi and >= pi - sq_wqebbs
  std::uint64_t cqes = 0;  // CQEs consumed (kRing)
  Result error;            // the first error: it stays
};

/// The same for a queue that several teams share: words that they move with atomics (shared_word.h), on lines of their
/// own where different lanes would fight for them.
struct SharedIndices {
  alignas(64) std::uint64_t reserved = 0;  // promised to slots
  alignas(64) std::uint64_t ready = 0;     // all before it are written
  alignas(64) std::uint64_t rung = 0;      // all before it are announced
  std::uint64_t post_lock = 0;             // of PostLock::kLock and Sharing::kLockPerWqe
  alignas(64) std::uint64_t ci = 0;
  std::uint64_t cq_lock = 0;  // held for a look at a CQ whose entries are consumed in turn
  std::uint64_t cqes = 0;
  std::uint64_t cqe_origin = 0;  // WQEBB index less CQE number (FindCqe::kEntry)
  std::uint64_t error = 0;       // pack_result() of the first error
};

/// What outlives a kernel, so that the next one (or the host) continues the queue. Zero for a fresh queue.
/// Lies beside the queues. The indices are the exclusive owner's; begin_sharing() and end_sharing() carry them over.
struct alignas(64) QpCounters : QpIndices {
  SharedIndices shared;
};

/// A send queue and its CQ. The CQ must have been filled with wire::kFreshCqeByte before the QP could send.
struct Qp {
  std::byte* sq = nullptr;      // 64-byte aligned
  std::uint32_t sq_wqebbs = 0;  // a power of two, at most wire::kMaxSqWqebbs
  std::uint32_t qpn = 0;
  wire::be32* dbrec_send = nullptr;            // &wire::QpDbrec::send, the second word
  volatile std::uint64_t* doorbell = nullptr;  // the QP's own UAR register, 8-byte aligned, never read; or, for
                                               // DoorbellSequence::kForwarded, the word that a host thread reads
  std::byte* cq = nullptr;                     // 64-byte aligned
  wire::be32* cq_consumer = nullptr;           // &wire::CqDbrec::consumer; for CqRecord::kConsumer alone
  QpCounters* counters = nullptr;
  std::uint64_t timeout_ns = 10'000'000'000;  // longest wait for room or for a CQE
  std::uint32_t max_inline_bytes = 28;        // what the QP was created with: 28, 92, 156 or 220
  std::uint8_t log_cqes = 0;
  CqLayout cq_layout = CqLayout::kCollapsed;
  DoorbellMapping doorbell_mapping = DoorbellMapping::kUncached;

  [[nodiscard]] MARROW_HD constexpr std::uint32_t sq_mask() const { return sq_wqebbs - 1; }
  [[nodiscard]] MARROW_HD constexpr std::uint32_t cq_mask() const { return (1u << log_cqes) - 1; }
};

static_assert(std::is_trivially_copyable_v<Qp>, "kernels take a Qp by value");

/// As QpCounters, of a receive ring: receives posted, and CQEs read.
struct alignas(64) ReceiveCounters {
  std::uint64_t posted = 0;
  std::uint64_t taken = 0;
};

/// The receive side of a queue pair, for immediates: its WQEs are made once and hold no address, so that only their
/// number counts. The CQ is a ring of as many entries, filled with wire::kFreshCqeByte.
struct ReceiveRing {
  std::byte* cq = nullptr;           // 64-byte aligned
  wire::be32* dbrec_recv = nullptr;  // &wire::QpDbrec::receive, the first word
  ReceiveCounters* counters = nullptr;
  std::uint32_t wqes = 0;                     // a power of two
  std::uint64_t timeout_ns = 10'000'000'000;  // longest wait for an immediate
};
inline constexpr std::uint32_t kMaxWqebbs = 4;  // of a WQE that we post; the NIC's limit is max_wqe_sz_sq

/// WQEBBs that an inline write of `bytes` takes; 0 when no WQE that we post can hold it.
MARROW_HD constexpr std::uint32_t inline_write_wqebbs(std::uint32_t bytes) {
  return bytes <= wire::max_inline_write(kMaxWqebbs) ? wire::wqebbs_of(2 + wire::inline_ds(bytes)) : 0;
}

/// From exclusive to shared use, and back; while nobody posts. A fresh queue may be shared at once.
MARROW_HD inline void begin_sharing(QpCounters& c) {
  c.shared = {};
  c.shared.reserved = c.shared.ready = c.shared.rung = c.pi;
  c.shared.ci = c.ci;
  c.shared.cqes = c.cqes;
  c.shared.cqe_origin = c.ci - c.cqes;
  c.shared.error = pack_result(c.error);
}
MARROW_HD inline void end_sharing(QpCounters& c, FindCqe found_by) {
  c.pi = c.shared.ready;
  c.ci = c.shared.ci;
  c.cqes = found_by == FindCqe::kEntry ? c.shared.ci - c.shared.cqe_origin : c.shared.cqes;
  c.error = unpack_result(c.shared.error);
}

}  // namespace marrow::gda
