// SPDX-License-Identifier: Apache-2.0
// Where address vectors of WQEs lead (DCIs and datagrams), and what a receiver sees of a datagram's way. Both need the
// port's addresses, which are the firmware's business (src/cx7/fw).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "cx7/fabric/packet.h"
#include "marrow/wire/dc.h"

namespace marrow::cx7 {

/// The 40 bytes in front of a received datagram.
using GrhSpace = std::span<std::byte, kGrhBytes>;

struct Routing {
  std::uint8_t (*device_of)(const wire::AddressVector& av) = nullptr;  // or kNoDevice
  std::array<std::uint16_t, 2> lids{};  // of the devices, for who cannot call; 0 on Ethernet, where LIDs mean nothing
  bool ethernet = false;                // then every datagram has a global header
  /// Fills the GRH of a datagram with `bytes` of payload that `device` sends. False: `av` names a source GID that the
  /// port does not have.
  bool (*write_grh)(std::uint8_t device, const wire::AddressVector& av, std::uint32_t bytes, GrhSpace to) = nullptr;
};

}  // namespace marrow::cx7
