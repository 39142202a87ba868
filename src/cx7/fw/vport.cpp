// SPDX-License-Identifier: Apache-2.0
// What the port is, through the firmware: QUERY_HCA_VPORT_CONTEXT, QUERY_HCA_VPORT_GID, QUERY_ROCE_ADDRESS,
// QUERY_VPORT_STATE, QUERY_NIC_VPORT_CONTEXT, QUERY_LAG.
// Facts: layouts [prm, restated by rdma-core's own DEVX test and by open drivers].
#include <cstring>

#include "cx7/fw/command.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/port.h"

namespace marrow::cx7::fw {
namespace {

namespace prm = wire::prm;
using prm::Field;
using prm::Field64;
using prm::get;
using prm::set;

constexpr std::size_t kContext = 0x10;  // of each reply

namespace in {
constexpr Field port_num{0x08, 19, 16};
constexpr Field gid_index{0x0c, 15, 0};
constexpr Field roce_index{0x08, 31, 16};
constexpr Field roce_port{0x08, 3, 0};
}  // namespace in

namespace vport {  // HCA vport context
constexpr Field port_physical_state{0x20, 15, 12};
constexpr Field port_state{0x20, 7, 4};
constexpr Field vport_state{0x20, 3, 0};
constexpr Field64 system_image_guid{0x28};
constexpr Field64 port_guid{0x30};
constexpr Field64 node_guid{0x38};
constexpr Field lid{0x60, 31, 16};
constexpr Field subnet_timeout{0x60, 4, 0};
constexpr Field sm_lid{0x64, 31, 16};
}  // namespace vport

namespace roce {  // RoCE address
constexpr std::size_t kGid = 0;
constexpr std::size_t kMac = 0x12;
constexpr Field l3_type{0x18, 11, 8};
constexpr Field version{0x18, 7, 0};
}  // namespace roce

namespace vport_state {
constexpr Field admin{0x0c, 7, 4};
constexpr Field state{0x0c, 3, 0};
}  // namespace vport_state

namespace nic_vport {  // NIC vport context
constexpr Field roce_en{0x00, 0, 0};
constexpr Field64 system_image_guid{0x28};
constexpr Field64 port_guid{0x30};
constexpr Field64 node_guid{0x38};
constexpr std::size_t kPermanentMac = 0xf6;
}  // namespace nic_vport

constexpr std::uint32_t kUp = 1;
constexpr std::uint32_t kActive = 4;
constexpr std::uint32_t kLinkUp = 5;
constexpr std::uint32_t kSubnetTimeout = 18;

// Port 0 stands for the only one.
Reply check_port(std::uint32_t port) {
  return port <= kPorts ? Reply{} : refuse(CommandStatus::kBadParameter, "port_num: the device has port 1 only");
}

Reply check_link(LinkLayer needed) {
  return link_layer() == needed ? Reply{} : refuse(CommandStatus::kBadParameter, "not this port's link layer");
}

}  // namespace

Reply query_hca_vport_context(Client& client, const std::byte* mailbox, std::byte* out) {
  if (const auto reply = check_link(LinkLayer::kInfiniBand); !reply.ok()) return reply;
  if (const auto reply = check_port(get(mailbox, in::port_num)); !reply.ok()) return reply;
  const auto& facts = device_facts(client.device.index);
  std::byte* const context = out + kContext;
  set(context, vport::port_physical_state, kLinkUp);
  set(context, vport::port_state, kActive);
  set(context, vport::vport_state, kActive);
  set(context, vport::system_image_guid, facts.system_image_guid);
  set(context, vport::port_guid, facts.node_guid);
  set(context, vport::node_guid, facts.node_guid);
  set(context, vport::lid, facts.lid);
  set(context, vport::subnet_timeout, kSubnetTimeout);
  set(context, vport::sm_lid, device_facts(0).lid);
  return {};
}

Reply query_hca_vport_gid(Client& client, const std::byte* mailbox, std::byte* out) {
  if (const auto reply = check_link(LinkLayer::kInfiniBand); !reply.ok()) return reply;
  if (const auto reply = check_port(get(mailbox, in::port_num)); !reply.ok()) return reply;
  const auto gids = gid_table(client.device.index);
  const auto index = get(mailbox, in::gid_index);
  if (index >= gids.size()) return refuse(CommandStatus::kBadIndex, "gid_index: no such GID");
  set(out, Field{0x0c, 31, 16}, 1);
  std::memcpy(out + kContext, gids[index].gid.data(), sizeof(Gid));
  return {};
}

Reply query_roce_address(Client& client, const std::byte* mailbox, std::byte* out) {
  if (const auto reply = check_link(LinkLayer::kEthernet); !reply.ok()) return reply;
  if (const auto reply = check_port(get(mailbox, in::roce_port)); !reply.ok()) return reply;
  const auto gids = gid_table(client.device.index);
  const auto index = get(mailbox, in::roce_index);
  if (index >= gids.size()) return refuse(CommandStatus::kBadIndex, "roce_address_index: no such GID");
  const auto& entry = gids[index];
  constexpr Gid kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  const bool ipv4 = std::memcmp(entry.gid.data(), kMapped.data(), 12) == 0;
  const auto& mac = device_facts(client.device.index).mac;
  std::byte* const address = out + kContext;
  std::memcpy(address + roce::kGid, entry.gid.data(), sizeof(Gid));
  std::memcpy(address + roce::kMac, mac.data(), mac.size());
  set(address, roce::l3_type, ipv4 ? 0 : 1);
  set(address, roce::version, entry.type == GidType::kRoceV2 ? 2 : 0);
  return {};
}

Reply query_vport_state(Client& client, const std::byte*, std::byte* out) {
  set(out, vport_state::admin, kUp);
  set(out, vport_state::state, port_is_up(client.device.index) ? kUp : 0);
  return {};
}

// No MTU and no address lists: there is no network interface behind the port.
Reply query_nic_vport_context(Client& client, const std::byte*, std::byte* out) {
  if (const auto reply = check_link(LinkLayer::kEthernet); !reply.ok()) return reply;
  const auto& facts = device_facts(client.device.index);
  std::byte* const context = out + kContext;
  set(context, nic_vport::roce_en, 1);
  set(context, nic_vport::system_image_guid, facts.system_image_guid);
  set(context, nic_vport::port_guid, facts.node_guid);
  set(context, nic_vport::node_guid, facts.node_guid);
  std::memcpy(context + nic_vport::kPermanentMac, facts.mac.data(), facts.mac.size());
  return {};
}

// A reply of zeros: the two ports are two devices, and no LAG binds them.
Reply query_lag(Client&, const std::byte*, std::byte*) {
  return {};
}

}  // namespace marrow::cx7::fw
