// SPDX-License-Identifier: Apache-2.0
// The bytes of operation number i, for whoever writes or checks them: host or GPU. Neighbouring operations differ in
// every 8-byte word, so that a lost, late, short or repeated put is noticed.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "marrow/wire/host_device.h"

namespace marrow::experiments {

static_assert(std::endian::native == std::endian::little, "stamps are words in memory order");

/// Bytes 8 * number to 8 * number + 7 of operation `i`: a counter, scrambled by an odd multiplier (a permutation of
/// 2^64).
MARROW_HD constexpr std::uint64_t stamp_word(std::uint64_t i, std::uint64_t number = 0) {
  constexpr std::uint64_t kScramble = 0x9e3779b97f4a7c15;
  return (i + 1 + (number << 40U)) * kScramble;
}

/// Bytes `at` to `at` + 3, where `at` is a multiple of 4.
MARROW_HD constexpr std::uint32_t stamp_half(std::uint64_t i, std::uint32_t at) {
  return static_cast<std::uint32_t>(stamp_word(i, at / 8) >> (at % 8 * 8));
}

/// Byte `at`.
MARROW_HD constexpr std::byte stamp_byte(std::uint64_t i, std::size_t at) {
  return static_cast<std::byte>(stamp_word(i, at / 8) >> (at % 8 * 8));
}

}  // namespace marrow::experiments
