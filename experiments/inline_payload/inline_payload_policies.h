// SPDX-License-Identifier: Apache-2.0
// The ways of putting that inline-payload compares, for both lanes: single puts, and bursts with one doorbell for
// kInlinePayloadBatch WQEs.
#pragma once

#include "marrow/gda/handles.h"
#include "marrow/gda/policy.h"

namespace marrow::experiments {

inline constexpr std::uint32_t kInlinePayloadBatch = 16;                       // WQEs a doorbell
inline constexpr std::uint32_t kInlinePayloadBurst = 4 * kInlinePayloadBatch;  // WQEs a rate sample
inline constexpr std::uint32_t kMostInline = 220;
inline constexpr std::uint32_t kInlinePayloadSqWqebbs = 512;  // room for a burst of the longest WQEs
static_assert(kInlinePayloadSqWqebbs >= kInlinePayloadBurst * gda::inline_write_wqebbs(kMostInline));

using InlinePut = gda::Inline<gda::GpuFence, kMostInline>;
using PointerPut = gda::Pointer<gda::GpuFence>;
using InlineBatch = gda::Batch<InlinePut, kInlinePayloadBatch>;
using PointerBatch = gda::Batch<PointerPut, kInlinePayloadBatch>;

}  // namespace marrow::experiments
