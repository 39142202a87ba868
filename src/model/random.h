// SPDX-License-Identifier: Apache-2.0
// Numbers that look random and are the same on every machine for the same seed (the mixing steps are splitmix64's).
#pragma once

#include <cstdint>

namespace marrow::model {

[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t value) noexcept {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed) {}
  /// Of 0 ... limit - 1; limit is not 0.
  constexpr std::uint32_t below(std::uint32_t limit) noexcept {
    return static_cast<std::uint32_t>(((mixed(state_++) >> 32) * limit) >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace marrow::model
