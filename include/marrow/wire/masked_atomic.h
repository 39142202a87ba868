// SPDX-License-Identifier: Apache-2.0
// Stop 3 of 9, for atomics of 4 or 8 bytes that touch only some bits: 32-bit adds, swaps, and, or, xor.
// Facts: opcodes 0x14 and 0x15 and the operand's layout [obs: UCX, NVSHMEM]; modifier 0x08 | log2(bytes) - 2 [obs:
// UCX]. Witnesses: tests/wire/masked_atomic_test.cpp.
#pragma once

#include <cstdint>

#include "marrow/wire/wqe.h"

namespace marrow::wire {

/// In the control segment's top byte.
inline constexpr std::uint8_t kMasked4 = 0x08;
inline constexpr std::uint8_t kMasked8 = 0x09;

/// 4 bytes: `boundary` has a bit where a carry stops, so all ones is xor and 0 a plain add.
struct MaskedAdd4 {
  be32 add;
  be32 boundary;
  be64 reserved;
};
struct MaskedAdd8 {
  be64 add;
  be64 boundary;
};

/// Swaps the bits of `swap_mask` when those of `compare_mask` are equal; a compare mask of 0 always swaps.
struct MaskedSwap4 {
  be32 swap;
  be32 compare;
  be32 swap_mask;
  be32 compare_mask;
};
/// Two segments: the WQE of an RC QP has five, and takes two WQEBBs.
struct MaskedSwap8 {
  be64 swap;
  be64 compare;
  be64 swap_mask;
  be64 compare_mask;
};

static_assert(sizeof(MaskedAdd4) == kDsBytes && sizeof(MaskedAdd8) == kDsBytes && sizeof(MaskedSwap4) == kDsBytes &&
              sizeof(MaskedSwap8) == 2 * kDsBytes);

}  // namespace marrow::wire
