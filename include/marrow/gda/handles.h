// SPDX-License-Identifier: Apache-2.0
// What a lane is given: raw pointers to queues that the host made (src/verbs), plain data passed to kernels by value.
// Before stop 1 of 9 (docs/one-message.md). Facts: alignment and units [dv]; ring limit [prm].
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

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
enum class DoorbellMapping : std::uint8_t { kUncached, kWriteCombining, kOrdinaryMemory };

/// Every CQE at entry 0; or 2^log_cqes entries with an owner bit per lap, then as many as the SQ has WQEBBs or more.
enum class CqLayout : std::uint8_t { kCollapsed, kRing };

/// What outlives a kernel, so that the next one (or the host) continues the queue. Zero for a fresh queue.
/// Lies beside the queues; only the lane that owns the SendQueue touches it. All indices are 64-bit and free-running.
struct alignas(64) QpCounters {
  std::uint64_t pi = 0;    // WQEBBs posted: the next free one
  std::uint64_t ci = 0;    // WQEBBs known to be complete, always <= pi and >= pi - sq_wqebbs
  std::uint64_t cqes = 0;  // CQEs consumed (kRing)
  Result error;            // the first error: it stays
};

/// A send queue and its CQ. The CQ must have been filled with wire::kFreshCqeByte before the QP could send.
struct Qp {
  std::byte* sq = nullptr;      // 64-byte aligned
  std::uint32_t sq_wqebbs = 0;  // a power of two, at most wire::kMaxSqWqebbs
  std::uint32_t qpn = 0;
  wire::be32* dbrec_send = nullptr;            // &wire::QpDbrec::send, the second word
  volatile std::uint64_t* doorbell = nullptr;  // the QP's own UAR register, 8-byte aligned, never read
  std::byte* cq = nullptr;                     // 64-byte aligned
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
inline constexpr std::uint32_t kMaxWqebbs = 4;  // of a WQE that we post; the NIC's limit is max_wqe_sz_sq

/// WQEBBs that an inline write of `bytes` takes; 0 when no WQE that we post can hold it.
MARROW_HD constexpr std::uint32_t inline_write_wqebbs(std::uint32_t bytes) {
  return bytes <= wire::max_inline_write(kMaxWqebbs) ? wire::wqebbs_of(2 + wire::inline_ds(bytes)) : 0;
}

}  // namespace marrow::gda
