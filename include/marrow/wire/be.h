// SPDX-License-Identifier: Apache-2.0
// Big-endian words as types of their own: every WQE, CQE, dbrec and command field is big-endian [prm], and an
// unconverted value does not compile.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "marrow/wire/host_device.h"

namespace marrow::wire {

static_assert(std::endian::native == std::endian::little, "marrow runs on little-endian hosts");

// Shifts are constexpr, and host compilers see a byte swap in them; ptxas does not, and takes ten instructions for what
// one byte permute does [obs: nvcc 13.0, sm_90].
MARROW_HD constexpr std::uint16_t swap_bytes(std::uint16_t v) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) return static_cast<std::uint16_t>(__byte_perm(v, 0, 0x3201));
#endif
  return static_cast<std::uint16_t>(static_cast<std::uint16_t>(v << 8) | (v >> 8));
}
MARROW_HD constexpr std::uint32_t swap_bytes(std::uint32_t v) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) return __byte_perm(v, 0, 0x0123);
#endif
  return (v << 24) | ((v << 8) & 0x00ff0000u) | ((v >> 8) & 0x0000ff00u) | (v >> 24);
}
MARROW_HD constexpr std::uint64_t swap_bytes(std::uint64_t v) {
  return (static_cast<std::uint64_t>(swap_bytes(static_cast<std::uint32_t>(v))) << 32) |
         swap_bytes(static_cast<std::uint32_t>(v >> 32));
}

/// A big-endian word in memory. `raw` is what the bytes hold; host() is the value. Trivial: it may lie in a union,
/// in device memory or over bytes that a NIC writes.
template <class Word>
struct BigEndian {
  Word raw;

  BigEndian() = default;
  MARROW_HD constexpr explicit BigEndian(Word host) : raw(swap_bytes(host)) {}
  [[nodiscard]] MARROW_HD constexpr Word host() const { return swap_bytes(raw); }
  friend constexpr bool operator==(const BigEndian&, const BigEndian&) = default;
};

using be16 = BigEndian<std::uint16_t>;
using be32 = BigEndian<std::uint32_t>;
using be64 = BigEndian<std::uint64_t>;

static_assert(sizeof(be16) == 2 && sizeof(be32) == 4 && sizeof(be64) == 8);

}  // namespace marrow::wire
