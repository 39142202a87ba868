// SPDX-License-Identifier: Apache-2.0
// Where an address vector leads, for both link layers and both ways to say it (verbs and firmware).
#pragma once

#include <bit>
#include <cstdint>

#include "cx7/fw/port.h"

namespace marrow::cx7 {

/// What of an address vector decides the destination.
struct Path {
  bool has_gid = false;
  Gid gid{};
  std::uint16_t lid = 0;  // InfiniBand
  bool has_mac = false;   // RoCE, when the caller resolved it
  Mac mac{};
};

/// The device at its end, or kNoDevice: packets are then lost, as on a fabric.
[[nodiscard]] std::uint8_t destination_of(const Path& path);

constexpr std::uint32_t log2_of(std::uint32_t power_of_two) {
  return static_cast<std::uint32_t>(std::bit_width(power_of_two)) - 1;
}

}  // namespace marrow::cx7
