// SPDX-License-Identifier: Apache-2.0
// Who the two devices are: names, GUIDs, LIDs, MACs, GIDs, PCI identity. The ioctl side answers from here, and the
// shim's device tree writes the same facts as text files, so that both tell one story.
// Facts: 0x1021 is ConnectX-7 [prm: PCI ids]; alternating RoCE v1 and v2 GIDs, IPv4-mapped ones last [obs].
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace marrow::cx7 {

enum class LinkLayer : std::uint8_t { kInfiniBand, kEthernet };

/// MARROW_SIM_LINK=ib|roce, when not set ib, or roce with a network (MARROW_SIM_UDP); read once. A word it does not
/// know throws util::Error (usage).
[[nodiscard]] LinkLayer link_layer();
/// For tests that need both in one process.
void override_link_layer(LinkLayer link);

using Gid = std::array<std::uint8_t, 16>;
using Mac = std::array<std::uint8_t, 6>;

/// Values are those of the kernel's ib_uverbs_gid_type.
enum class GidType : std::uint8_t { kInfiniBand = 0, kRoceV1 = 1, kRoceV2 = 2 };

struct GidEntry {
  Gid gid{};
  GidType type{};
};

/// What gid_attrs/types/N says: "IB/RoCE v1" or "RoCE v2".
[[nodiscard]] std::string_view gid_type_text(GidType type);

struct DeviceFacts {
  std::string_view name;         // mlx5_sim0
  std::string_view node;         // uverbs0: its name below /dev/infiniband and /sys/class/infiniband_verbs
  std::string_view pci_address;  // 4d52:01:00.0
  std::uint64_t node_guid = 0;   // host order, as printed b8ce:f603:00aa:0001
  std::uint64_t system_image_guid = 0;
  std::uint16_t lid = 0;  // on InfiniBand; an Ethernet port reports 0
  Mac mac{};
};

inline constexpr std::string_view kFirmwareVersion = "28.40.1000";  // 28: ConnectX-7's; the rest is ours
inline constexpr std::uint64_t kFirmwareVersionWord = 28ull << 32 | 40ull << 16 | 1000ull;
inline constexpr std::string_view kBoardId = "MRW0000000001";
inline constexpr std::uint32_t kVendorId = 0x02c9;
inline constexpr std::uint32_t kPciVendor = 0x15b3;
inline constexpr std::uint32_t kPciDevice = 0x1021;
inline constexpr std::uint32_t kHardwareVersion = 0;
inline constexpr std::uint16_t kPkey = 0xffff;
inline constexpr std::uint32_t kGidTableLength = 16;  // slots; ports/1/gids/0 ... 15, empty ones are all zero
inline constexpr std::uint32_t kPkeyTableLength = 1;
inline constexpr std::uint8_t kPorts = 1;

/// `device` is 0 or 1.
[[nodiscard]] const DeviceFacts& device_facts(std::uint8_t device);

/// The IPv4 address of its RoCE v2 GID; 0 for a device that has none.
[[nodiscard]] std::uint32_t device_address(std::uint8_t device);

/// The filled slots of the port's GID table, from index 0 on, for the link layer in force.
[[nodiscard]] std::span<const GidEntry> gid_table(std::uint8_t device);

/// Whether the port is connected: with a network (fabric/udp_ports.h) only a device that has an address on it.
[[nodiscard]] bool port_is_up(std::uint8_t device);
/// Largest path MTU that passes, as the verbs' code: 1 is 256 bytes, 5 is 4096.
[[nodiscard]] std::uint8_t active_mtu_code(std::uint8_t device);
/// For tests that need a port with a smaller one; 0 takes it back.
void override_active_mtu_code(std::uint8_t code);

/// Which of our devices a LID or a GID leads to; nothing when it is nobody's.
[[nodiscard]] std::optional<std::uint8_t> device_of_lid(std::uint16_t lid);
[[nodiscard]] std::optional<std::uint8_t> device_of_gid(const Gid& gid);
/// The number of the host that a GID leads to (fabric/hosts.h): there has to be a network, and the GID is
/// ::ffff:A.B.C.D.
[[nodiscard]] std::optional<std::uint8_t> host_of_gid(const Gid& gid);
/// What address resolution would say: our devices' own, and for another host one made of its address.
[[nodiscard]] std::optional<Mac> mac_of_gid(const Gid& gid);

}  // namespace marrow::cx7
