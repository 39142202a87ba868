// SPDX-License-Identifier: Apache-2.0
// Other hosts by number. A packet says in one byte where it comes from: 0 and 1 are the two devices of a process, what
// lies above is another host. Numbers mean something inside one process only; between processes go addresses.
#pragma once

#include <cstdint>
#include <optional>

namespace marrow::cx7 {

inline constexpr std::uint8_t kFirstHost = 2;
inline constexpr std::uint8_t kHosts = 250;
inline constexpr std::uint8_t kForwarded =
    0xfd;  // another process took the packet in: Packet::from_host says from whom
inline constexpr std::uint8_t kUnknownHost = 0xfe;  // one that no queue pair leads to

/// The number of the host with this IPv4 address, given to it at the first call; nothing when kHosts have one already.
/// Any thread.
[[nodiscard]] std::optional<std::uint8_t> number_of_host(std::uint32_t address);

/// The same without giving one: kUnknownHost.
[[nodiscard]] std::uint8_t find_host(std::uint32_t address);

/// 0 for a number that nobody has.
[[nodiscard]] std::uint32_t address_of_host(std::uint8_t number);

}  // namespace marrow::cx7
