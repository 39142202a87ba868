// SPDX-License-Identifier: Apache-2.0
// A packet's headers as the bytes that travel between hosts: BTH and the extension headers that its opcode calls for.
// Facts: layouts and which opcode has which headers [prm: IBA vol. 1, ch. 9; annexes A14 (XRC), A17 (RoCE v2)].
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "cx7/fabric/icrc.h"
#include "cx7/fabric/packet.h"

namespace marrow::cx7 {

inline constexpr std::uint32_t kBthBytes = 12;
inline constexpr std::uint32_t kMostExtensionBytes = 28;  // AtomicETH
inline constexpr std::uint32_t kMostHeaderBytes = kBthBytes + kMostExtensionBytes + 4;
inline constexpr std::uint32_t kIpBytes = 20;
inline constexpr std::uint32_t kUdpBytes = 8;
inline constexpr std::uint32_t kIcrcBytes = 4;
inline constexpr std::uint32_t kIcrcMaskedAt = 4;  // the byte of the BTH that counts as ones: FECN, BECN, reserved
inline constexpr std::uint16_t kDefaultPkey = 0xffff;

/// Zero bytes between the payload and the ICRC.
constexpr std::uint32_t pad_of(std::uint32_t payload_bytes) {
  return -payload_bytes & 3;
}

/// Bytes of the extension headers that stand behind the BTH; nothing for an opcode that has no form on a wire (DC, and
/// the masked atomics, whose form is not public).
[[nodiscard]] std::optional<std::uint32_t> extension_bytes(PacketOpcode opcode);

/// Bytes of a UD packet's payload that are not payload on the wire: what its receiver sees of the IP header.
constexpr std::uint32_t grh_bytes(const Packet& packet) {
  return packet.grh ? kGrhBytes : 0;
}

/// What a port counts a packet as: words of 4 bytes from the BTH to the ICRC, with the GRH of a datagram that has one.
/// An opcode without a form on a wire counts as one without extension headers.
extern const std::array<std::uint8_t, 256> kHeaderWords;  // by opcode: BTH, extension headers and ICRC
inline std::uint32_t wire_words(const Packet& packet) {
  return kHeaderWords[static_cast<std::uint8_t>(packet.opcode)] + (packet.payload_bytes + 3) / 4;
}

/// Writes the headers to `to`, which has room for kMostHeaderBytes. Returns how many bytes they take, 0 for an opcode
/// without a form.
std::uint32_t write_headers(const Packet& packet, std::byte* to);

/// The headers as senders here write them, kIpBytes + kUdpBytes of them.
void write_ip_and_udp(const Ipv4Flow& flow, std::uint32_t udp_payload_bytes, std::span<std::byte> to);

/// Writes what the receiver of a UD packet sees before its payload, at the payload's start: an IPv4 header, from
/// packet.from_host to `to`, in the second half of kGrhBytes.
void write_ip_header(Packet& packet, std::uint32_t to);

/// What a BTH says before the rest is looked at.
struct WireShape {
  std::uint32_t extension_bytes = 0;
  std::uint32_t pad_bytes = 0;
};
/// Nothing for what is no packet of ours: another version, an unknown opcode, another partition.
[[nodiscard]] std::optional<WireShape> read_bth(const std::byte* bth, Packet& packet);
/// The extension headers, of as many bytes as read_bth() said.
void read_extensions(const std::byte* extensions, Packet& packet);

}  // namespace marrow::cx7
