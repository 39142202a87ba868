// SPDX-License-Identifier: Apache-2.0
// How the lanes under load post and hand over, for both lanes.
#pragma once

#include "marrow/gda/policy.h"
#include "marrow/proxy/hand_off.h"

namespace marrow::experiments {

/// Which queue or ring a probe uses.
enum class Probing : std::uint8_t { kShared, kReserved };

/// Every lane posts as if it had to share, so that the probe's code is the same on either queue.
using LoadPolicy = gda::Shared<gda::GpuFence>;
/// A lane with a queue of its own that fills the link.
using StreamPolicy = gda::Pointer<gda::GpuFence>;
inline constexpr std::uint32_t kLoadBatch = 16;  // WQEs a doorbell

/// Every producer hands over as if its ring were shared, likewise.
using LoadHandOff = proxy::SharedRing<proxy::Tuned>;

}  // namespace marrow::experiments
