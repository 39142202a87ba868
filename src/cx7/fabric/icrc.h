// SPDX-License-Identifier: Apache-2.0
// The invariant CRC that ends every RoCE v2 packet: over what no router changes, and so over the IP header's
// identification too, which a UDP socket never sees. Facts: polynomial, what counts as ones, byte order
// [prm: IBA vol. 1, 7.8, and annex A17].
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace marrow::cx7 {

/// CRC-32 without its first and last complement: continues `state` over `bytes`.
[[nodiscard]] std::uint32_t crc32_update(std::uint32_t state, std::span<const std::byte> bytes);

/// The state after the eight bytes of ones that stand for the absent LRH.
inline constexpr std::uint32_t kCrcAfterOnes = 0xdebb20e3;

/// Addresses and ports in host byte order.
struct Ipv4Flow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint16_t from_port = 0;
  std::uint16_t to_port = 0;
};

/// The state after IP and UDP header, as senders here write them: no options, don't fragment, identification 0.
/// \param udp_payload_bytes  BTH to ICRC, both included.
[[nodiscard]] std::uint32_t crc32_of_headers(const Ipv4Flow& flow, std::uint32_t udp_payload_bytes);

/// The identification that explains the difference between the CRC that came and the one computed for identification 0;
/// nothing when none does: then the packet is damaged. The CRC is linear, so it can be run backwards: of 2^32
/// differences 2^16 stand for an identification, and a damaged packet passes with that chance.
/// \param udp_payload_bytes  as above.
[[nodiscard]] std::optional<std::uint16_t> identification_behind(std::uint32_t difference,
                                                                 std::uint32_t udp_payload_bytes);

}  // namespace marrow::cx7
