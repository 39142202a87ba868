// SPDX-License-Identifier: Apache-2.0
// The ways of posting that gpu-rate compares. All order with the GPU-scope fence, send from a register and ask for a
// CQE twice a ring.
#pragma once

#include "marrow/gda/policy.h"

namespace marrow::experiments {

using RateOwn = gda::SignalSparse<gda::GpuFence>;
using RateLock = gda::Locked<RateOwn>;
using RateThreadSlots = gda::Shared<gda::Batch<RateOwn, 32, gda::PostWhen::kBoundary>>;
using RateWarpSlots = gda::Shared<RateOwn>;
using RateWarpSlotsInBlock = gda::InBlock<RateWarpSlots>;

}  // namespace marrow::experiments
