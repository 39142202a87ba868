// SPDX-License-Identifier: Apache-2.0
// The two devices' identity, as tables.
#include "cx7/fw/port.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "cx7/fabric/hosts.h"
#include "cx7/fabric/udp_ports.h"
#include "cx7/hca/engine.h"
#include "util/env.h"
#include "util/error.h"

namespace marrow::cx7 {
namespace {

constexpr std::array<DeviceFacts, kDevices> kDeviceFacts = {{
    {.name = "mlx5_sim0",
     .node = "uverbs0",
     .pci_address = "4d52:01:00.0",
     .node_guid = 0xb8cef60300aa0001,
     .system_image_guid = 0xb8cef60300aa0001,
     .lid = 1,
     .mac = {0xb8, 0xce, 0xf6, 0xaa, 0x00, 0x01}},
    {.name = "mlx5_sim1",
     .node = "uverbs1",
     .pci_address = "4d52:02:00.0",
     .node_guid = 0xb8cef60300aa0002,
     .system_image_guid = 0xb8cef60300aa0002,
     .lid = 2,
     .mac = {0xb8, 0xce, 0xf6, 0xaa, 0x00, 0x02}},
}};

constexpr Gid with_prefix(std::uint64_t interface_id) {
  Gid gid{0xfe, 0x80};  // the default subnet prefix, and IPv6 link-local
  for (unsigned i = 0; i < 8; ++i) gid[8 + i] = static_cast<std::uint8_t>(interface_id >> (56 - 8 * i));
  return gid;
}

constexpr Gid link_local(const Mac& mac) {  // modified EUI-64 [prm: RFC 4291, appendix A]
  Gid gid{0xfe, 0x80};
  const std::array<std::uint8_t, 8> id = {
      static_cast<std::uint8_t>(mac[0] ^ 2), mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
  for (unsigned i = 0; i < 8; ++i) gid[8 + i] = id[i];
  return gid;
}

constexpr Gid ipv4_mapped(std::uint32_t address) {
  Gid gid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  for (unsigned i = 0; i < 4; ++i) gid[12 + i] = static_cast<std::uint8_t>(address >> (24 - 8 * i));
  return gid;
}

// 198.18.0.0/15 is set aside for benchmarks [prm: RFC 2544]: nobody routes it.
constexpr Gid unrouted_ipv4(std::uint8_t device) {
  return ipv4_mapped(198u << 24 | 18u << 16 | (device + 1u));
}

std::optional<std::uint32_t> ipv4_of(const Gid& gid) {
  std::uint32_t address = 0;
  for (unsigned i = 0; i < 4; ++i) address = address << 8 | gid[12 + i];
  if (gid != ipv4_mapped(address)) return std::nullopt;
  return address;
}

/// One GID, of RoCE v2, for a device that has an address on the network.
std::span<const GidEntry> network_gids(std::uint8_t device) {
  static const std::array<GidEntry, kDevices> entries = [] {
    std::array<GidEntry, kDevices> made{};
    const auto ports = udp_ports();
    for (std::size_t i = 0; i < ports.size(); ++i) made.at(i) = {ipv4_mapped(ports[i].address), GidType::kRoceV2};
    return made;
  }();
  return std::span(entries).subspan(device, device < udp_ports().size() ? 1 : 0);
}

constexpr GidEntry infiniband_gid(std::uint8_t device) {
  return {with_prefix(kDeviceFacts[device].node_guid), GidType::kInfiniBand};
}

constexpr std::array<GidEntry, 4> roce_gids(std::uint8_t device) {
  const auto local = link_local(kDeviceFacts[device].mac);
  return {{{local, GidType::kRoceV1},
           {local, GidType::kRoceV2},
           {unrouted_ipv4(device), GidType::kRoceV1},
           {unrouted_ipv4(device), GidType::kRoceV2}}};
}

constexpr std::array<std::array<GidEntry, 1>, 2> kInfiniBandGids = {{{infiniband_gid(0)}, {infiniband_gid(1)}}};
constexpr std::array<std::array<GidEntry, 4>, 2> kRoceGids = {{roce_gids(0), roce_gids(1)}};

LinkLayer from_environment() {
  static constexpr std::array<std::string_view, 2> kChoices = {"ib", "roce"};
  const bool network = !udp_ports().empty();
  if (network && util::env_text("MARROW_SIM_LINK").value_or("roce") == "ib") {
    throw util::Error("MARROW_SIM_UDP makes RoCE ports, and MARROW_SIM_LINK asks for InfiniBand ones",
                      util::ErrorKind::kUsage, "leave MARROW_SIM_LINK out");
  }
  return util::env_choice("MARROW_SIM_LINK", kChoices, network ? 1 : 0) == 0 ? LinkLayer::kInfiniBand
                                                                             : LinkLayer::kEthernet;
}

std::atomic<LinkLayer>& current() {
  static std::atomic<LinkLayer> link = from_environment();
  return link;
}

std::atomic<std::uint8_t> overridden_mtu_code{0};

}  // namespace

LinkLayer link_layer() {
  return current();
}

void override_link_layer(LinkLayer link) {
  current() = link;
}

std::string_view gid_type_text(GidType type) {
  return type == GidType::kRoceV2 ? "RoCE v2" : "IB/RoCE v1";
}

const DeviceFacts& device_facts(std::uint8_t device) {
  return kDeviceFacts.at(device);
}

std::span<const GidEntry> gid_table(std::uint8_t device) {
  if (link_layer() == LinkLayer::kInfiniBand) return kInfiniBandGids.at(device);
  if (!udp_ports().empty()) return network_gids(device);
  return kRoceGids.at(device);
}

std::uint32_t device_address(std::uint8_t device) {
  const auto ports = udp_ports();
  if (ports.empty()) return ipv4_of(unrouted_ipv4(device)).value_or(0);
  return device < ports.size() ? ports[device].address : 0;
}

bool port_is_up(std::uint8_t device) {
  const auto ports = udp_ports();
  return ports.empty() || device < ports.size();
}

void override_active_mtu_code(std::uint8_t code) {
  overridden_mtu_code = code;
}

std::uint8_t active_mtu_code(std::uint8_t device) {
  constexpr std::uint32_t kLargest = 4096;
  if (overridden_mtu_code != 0) return overridden_mtu_code;
  const auto ports = udp_ports();
  const std::uint32_t bytes = device < ports.size() ? ports[device].mtu_bytes : kLargest;
  return static_cast<std::uint8_t>(std::bit_width(bytes) - 8);
}

std::optional<std::uint8_t> device_of_lid(std::uint16_t lid) {
  for (std::uint8_t device = 0; device < kDevices; ++device) {
    if (lid != 0 && kDeviceFacts[device].lid == lid) return device;
  }
  return std::nullopt;
}

std::optional<std::uint8_t> device_of_gid(const Gid& gid) {
  for (std::uint8_t device = 0; device < kDevices; ++device) {
    const auto table = gid_table(device);
    if (std::any_of(table.begin(), table.end(), [&](const GidEntry& entry) { return entry.gid == gid; })) return device;
  }
  return std::nullopt;
}

std::optional<std::uint8_t> host_of_gid(const Gid& gid) {
  constexpr std::uint32_t kFirstMulticast = 224u << 24;
  const auto address = udp_ports().empty() ? std::nullopt : ipv4_of(gid);
  if (!address || *address == 0 || *address >= kFirstMulticast) return std::nullopt;
  return number_of_host(*address);
}

std::optional<Mac> mac_of_gid(const Gid& gid) {
  if (const auto device = device_of_gid(gid)) return device_facts(*device).mac;
  if (!host_of_gid(gid)) return std::nullopt;
  return Mac{0x02, 0x00, gid[12], gid[13], gid[14], gid[15]};  // 02: given out locally
}

}  // namespace marrow::cx7
