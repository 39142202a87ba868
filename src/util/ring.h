// SPDX-License-Identifier: Apache-2.0
// Arithmetic of rings whose size is a power of two and whose indices only grow. Hardware passes such an index around by
// its low 16 bits; here is how two of those compare and how the full index is found again.
#pragma once

#include <concepts>
#include <cstdint>

namespace marrow::util {

template <std::unsigned_integral T>
[[nodiscard]] constexpr bool is_pow2(T size) noexcept {
  return size != 0 && (size & (size - 1)) == 0;
}

/// `index & mask(size)` is the slot of `index`. `size` must be a power of two.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T mask(T size) noexcept {
  return static_cast<T>(size - 1);
}

/// How far `a` is ahead of `b`, negative when it is behind. Right as long as they are less than 32768 apart.
[[nodiscard]] constexpr std::int16_t distance16(std::uint16_t a, std::uint16_t b) noexcept {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(a - b));
}

/// The 64-bit index nearest to `near` whose low 16 bits are `low`.
[[nodiscard]] constexpr std::uint64_t extend16(std::uint64_t near, std::uint16_t low) noexcept {
  const std::int64_t ahead = distance16(low, static_cast<std::uint16_t>(near));
  return near + static_cast<std::uint64_t>(ahead);
}

}  // namespace marrow::util
