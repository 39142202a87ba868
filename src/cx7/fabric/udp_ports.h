// SPDX-License-Identifier: Apache-2.0
// Which addresses of this host the devices have on the network: MARROW_SIM_UDP=ADDRESS or ADDRESS,ADDRESS, the first
// for device 0. With one, the ports speak RoCE v2 over UDP to other hosts, and each has one GID, ::ffff:ADDRESS.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace marrow::cx7 {

inline constexpr std::uint16_t kRoceUdpPort = 4791;
/// What IP, UDP, BTH, the longest usual extension headers and the ICRC may take of a network packet.
inline constexpr std::uint32_t kRoceOverhead = 68;

struct UdpPort {
  std::uint32_t address = 0;    // host byte order; 0: this device has no network
  std::uint32_t mtu_bytes = 0;  // largest path MTU that fits its interface: 256 to 4096
};

/// Read once. Empty when the variable is not set. Throws util::Error (usage) for what is no address of this host.
[[nodiscard]] std::span<const UdpPort> udp_ports();

/// The same from a text, without the environment.
[[nodiscard]] std::vector<UdpPort> parse_udp_ports(std::string_view text);

/// "10.0.0.1".
[[nodiscard]] std::string address_text(std::uint32_t address);

}  // namespace marrow::cx7
