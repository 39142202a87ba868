// SPDX-License-Identifier: Apache-2.0
// The orderings of queue-placement. What reaches host memory reaches GPU memory too, so a policy for host memory posts
// to queues anywhere: the same code in every row of one ordering.
#pragma once

#include "marrow/gda/policy.h"

namespace marrow::experiments {

inline constexpr std::uint32_t kPlacementBytes = 8;

using PlacedGpuFence = gda::GpuFence;  // for queues in GPU memory alone
using PlacedSystemFence = gda::Placed<gda::SystemFence, gda::Mem::kHost>;
using PlacedSystemRelease = gda::Placed<gda::SystemReleaseStore, gda::Mem::kHost>;

}  // namespace marrow::experiments
