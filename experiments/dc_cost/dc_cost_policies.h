// SPDX-License-Identifier: Apache-2.0
// The three transports of dc-cost: one recipe, 8 bytes inline, and 0, 16 or 48 bytes of address in the WQE.
#pragma once

#include "marrow/gda/policy.h"

namespace marrow::experiments {

inline constexpr std::uint32_t kDcBytes = 8;
inline constexpr std::uint32_t kDcTargets = 8;  // a power of two
inline constexpr std::uint32_t kDcBurst = 256;  // puts, one doorbell, until the last is complete
inline constexpr std::uint32_t kDcSqWqebbs = 512;

using RcPut = gda::GpuFence;
using CompactPut = gda::Via<gda::GpuFence, gda::Transport::kDcCompact>;
using FullPut = gda::Via<gda::GpuFence, gda::Transport::kDcFull>;

/// Segments of a put's WQE: control, address, remote address, payload.
template <gda::PolicyType P>
inline constexpr std::uint32_t kDcSegments = 3 + gda::kAvDs<P>;

}  // namespace marrow::experiments
