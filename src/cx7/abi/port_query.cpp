// SPDX-License-Identifier: Apache-2.0
// QUERY_PORT, QUERY_GID_TABLE, QUERY_GID_ENTRY.
// Facts: structs and GID types [abi]; widths, speeds and states by their numbers [prm: PortInfo]; an empty GID slot is
// ENODATA [abi].
#include <algorithm>
#include <cstring>
#include <vector>

#include "cx7/abi/schema_table.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/port.h"

namespace marrow::cx7::abi {
namespace {

constexpr std::uint8_t kStateDown = 1;
constexpr std::uint8_t kStateActive = 4;
constexpr std::uint8_t kPhysicalDisabled = 3;
constexpr std::uint8_t kPhysicalLinkUp = 5;
constexpr std::uint8_t kWidth4x = 2;
constexpr std::uint8_t kSpeedNdr = 128;  // 100 Gb/s a lane: 400 Gb/s, as a ConnectX-7
constexpr std::uint8_t kLinkLayerInfiniBand = 1;
constexpr std::uint8_t kLinkLayerEthernet = 2;

ib_uverbs_query_port_resp attributes_of(std::uint8_t device, bool link_is_up) {
  const bool ethernet = link_layer() == LinkLayer::kEthernet;
  ib_uverbs_query_port_resp resp{};
  resp.port_cap_flags =
      ethernet ? IB_UVERBS_PCF_CM_SUP | IB_UVERBS_PCF_IP_BASED_GIDS
               : IB_UVERBS_PCF_CM_SUP | IB_UVERBS_PCF_SYS_IMAGE_GUID_SUP | IB_UVERBS_PCF_EXTENDED_SPEEDS_SUP;
  resp.max_msg_sz = 1u << kLogMaxMessage;
  resp.gid_tbl_len = kGidTableLength;
  resp.pkey_tbl_len = kPkeyTableLength;
  resp.lid = ethernet ? 0 : device_facts(device).lid;
  resp.sm_lid = ethernet ? 0 : device_facts(0).lid;
  const bool up = link_is_up && port_is_up(device);
  resp.state = up ? kStateActive : kStateDown;
  resp.max_mtu = kMaxMtuCode;
  resp.active_mtu = active_mtu_code(device);
  resp.max_vl_num = 1;
  resp.subnet_timeout = 18;
  resp.active_width = kWidth4x;
  resp.active_speed = kSpeedNdr;
  resp.phys_state = up ? kPhysicalLinkUp : kPhysicalDisabled;
  resp.link_layer = ethernet ? kLinkLayerEthernet : kLinkLayerInfiniBand;
  return resp;
}

ib_uverbs_gid_entry entry_at(std::uint8_t device, std::uint32_t index) {
  const auto& gid = gid_table(device)[index];
  ib_uverbs_gid_entry entry{};
  static_assert(sizeof entry.gid == sizeof(Gid));
  std::memcpy(entry.gid, gid.gid.data(), sizeof entry.gid);
  entry.gid_index = index;
  entry.port_num = 1;
  entry.gid_type = static_cast<std::uint32_t>(gid.type);
  return entry;
}

}  // namespace

void query_port(Context& context, Request& request) {
  require(request.number(UVERBS_ATTR_QUERY_PORT_PORT_NUM) == 1, EINVAL);
  // The newer reply is longer than the older one by fields that are zero here: Request::out() fills up with zeros.
  request.out(UVERBS_ATTR_QUERY_PORT_RESP,
              attributes_of(context.client.device.index, context.client.engine.fabric().link_is_up()));
}

void query_gid_table(Context& context, Request& request) {
  const auto entry_bytes = request.number(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
  require(request.number(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS) == 0, EINVAL);
  require(entry_bytes != 0 && entry_bytes <= UINT16_MAX, EINVAL);
  const auto device = context.client.device.index;
  const auto count = static_cast<std::uint32_t>(gid_table(device).size());
  require(request.bytes_of(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES) / entry_bytes >= count, EINVAL);
  std::vector<std::byte> all(count * entry_bytes);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto entry = entry_at(device, i);
    std::memcpy(all.data() + i * entry_bytes, &entry, std::min<std::size_t>(entry_bytes, sizeof entry));
  }
  request.out_bytes(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, all);
  request.out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, std::uint64_t{count});
}

void query_gid_entry(Context& context, Request& request) {
  require(request.number(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS) == 0, EINVAL);
  require(request.number(UVERBS_ATTR_QUERY_GID_ENTRY_PORT) == 1, EINVAL);
  const auto index = request.number32(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);
  const auto device = context.client.device.index;
  require(index < kGidTableLength, EINVAL);
  require(index < gid_table(device).size(), ENODATA);
  request.out(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, entry_at(device, index));
}

}  // namespace marrow::cx7::abi
