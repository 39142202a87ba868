// SPDX-License-Identifier: Apache-2.0
// What the tables hold of an object of the device, and the device's counters of what GPU threads counted.
#pragma once

#include <cstdint>

#include "cx7/cuda/tables.h"
#include "cx7/hca/counters.h"
#include "cx7/hca/qp.h"

namespace marrow::cx7::cuda {

/// How long an absent peer is waited for: every retry's time-out, for ever where there is none.
[[nodiscard]] std::uint32_t retry_us(const QpAttributes& attributes);
/// QueueEntry::rnr_tries.
[[nodiscard]] std::uint32_t rnr_tries(const QpAttributes& attributes);
/// Inbox::rnr_pause_us.
[[nodiscard]] std::uint32_t rnr_pause_us(const QpAttributes& attributes);

/// All but its inbox.
[[nodiscard]] PeerEntry peer_of(const Qp& qp);
[[nodiscard]] Serve service_of(const Qp& qp);
[[nodiscard]] Counters as_counters(const GpuCounters& theirs);

}  // namespace marrow::cx7::cuda
