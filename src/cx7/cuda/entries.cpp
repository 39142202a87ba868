// SPDX-License-Identifier: Apache-2.0
// See entries.h.
#include "cx7/cuda/entries.h"

#include <algorithm>

#include "cx7/hca/timing.h"

namespace marrow::cx7::cuda {

std::uint32_t retry_us(const QpAttributes& attributes) {
  if (attributes.ack_timeout == 0) return UINT32_MAX;
  const double one = 4.096 * static_cast<double>(std::uint64_t{1} << (attributes.ack_timeout & 31));
  return static_cast<std::uint32_t>(std::min(one * (attributes.retry_count + 1), 4e9));
}

PeerEntry peer_of(const Qp& qp) {
  const bool drained = qp.dct != nullptr && qp.dct->drained;
  const bool receives = (qp.state == QpState::kRtr || qp.state == QpState::kRts) && !drained;
  return {.qpn = qp.config.qpn,
          .remote_qpn = qp.attributes.remote_qpn,
          .pdn = qp.config.pdn,
          .access = qp.attributes.access,
          .receives = static_cast<std::uint8_t>(receives ? 1 : 0),
          .remote_device = qp.attributes.remote_device,
          .is_dct = static_cast<std::uint8_t>(qp.dct != nullptr ? 1 : 0),
          .dc_key = qp.dct != nullptr ? qp.dct->key : 0};
}

std::uint32_t rnr_tries(const QpAttributes& attributes) {
  constexpr std::uint8_t kForEver = 7;
  return attributes.rnr_retry == kForEver ? UINT32_MAX : attributes.rnr_retry;
}

std::uint32_t rnr_pause_us(const QpAttributes& attributes) {
  return static_cast<std::uint32_t>(rnr_pause(attributes.min_rnr_nak).count() / 1000);
}

Serve service_of(const Qp& qp) {
  if (qp.state == QpState::kRts) return Serve::kSend;
  return qp.state == QpState::kError ? Serve::kFlush : Serve::kNot;
}

Counters as_counters(const GpuCounters& theirs) {
  return {.doorbells = theirs.doorbells,
          .wqes_fetched = theirs.wqes_fetched,
          .cqes_written = theirs.cqes_written,
          .rnr_naks_sent = theirs.rnr_naks_sent,
          .timeouts = theirs.timeouts,
          .dc_connects = theirs.dc_connects,
          .dc_key_violations = theirs.dc_key_violations,
          .local_protection_errors = theirs.local_protection_errors,
          .strict_stale_wqe_index = theirs.strict_stale_wqe_index,
          .strict_wqe_reserved_bits = theirs.strict_wqe_reserved_bits,
          .strict_doorbell_ahead_of_dbrec = theirs.strict_doorbell_ahead_of_dbrec,
          .strict_sq_overflow = theirs.strict_sq_overflow};
}

}  // namespace marrow::cx7::cuda
