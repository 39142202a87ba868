// SPDX-License-Identifier: Apache-2.0
// The ways of putting that single-op compares, for both lanes.
#pragma once

#include "marrow/gda/policy.h"

namespace marrow::experiments {

inline constexpr std::uint32_t kSingleOpBytes = 8;

using SingleOpInline = gda::GpuFence;
using SingleOpUnordered = gda::NoOrder;
using SingleOpPointer = gda::Pointer<gda::GpuFence>;

}  // namespace marrow::experiments
