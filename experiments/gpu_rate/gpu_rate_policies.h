// SPDX-License-Identifier: Apache-2.0
// The ways of posting that gpu-rate compares. All but the control order with the GPU-scope fence; all send from a
// register and ask for a CQE twice a ring.
#pragma once

#include "marrow/gda/policy.h"

namespace marrow::experiments {

using RateOwn = gda::SignalSparse<gda::GpuFence>;
using RateUnordered = gda::SignalSparse<gda::NoOrder>;
using RateLock = gda::Locked<RateOwn>;
using RateThreadSlots = gda::Shared<gda::Batch<RateOwn, 32, gda::PostWhen::kBoundary>>;
/// Several warps: of those that wait for the lock, one rings for all that are ready. A warp that has the queue to
/// itself needs no lock: its turn has come when it reserves.
using RateWarpSlots = gda::Shared<RateOwn>;
using RateWarpAlone = gda::Shared<RateOwn, gda::Turn::kReadyIndex, gda::PostLock::kTurn>;
using RateWarpSlotsInBlock = gda::InBlock<RateWarpSlots>;

}  // namespace marrow::experiments
