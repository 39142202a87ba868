// SPDX-License-Identifier: Apache-2.0
// Address handles. RC has no use for one, but on RoCE creating one is how libraries find the peer's MAC.
#include <algorithm>
#include <cstring>

#include "cx7/abi/schema_table.h"
#include "cx7/fw/port.h"

namespace marrow::cx7::abi {
namespace {

// The kernel resolves the GID's neighbour; here the neighbours are our own devices.
mlx5_ib_create_ah_resp resolve(const ib_uverbs_ah_attr& attr, std::uint8_t device) {
  require(attr.is_global != 0, EINVAL);  // RoCE has no other address
  require(attr.grh.sgid_index < gid_table(device).size(), EINVAL);
  Gid gid;
  std::memcpy(gid.data(), attr.grh.dgid, gid.size());
  const auto mac = mac_of_gid(gid);
  require(mac.has_value(), EHOSTUNREACH);
  mlx5_ib_create_ah_resp resp{};
  std::memcpy(resp.dmac, mac->data(), sizeof resp.dmac);
  return resp;
}

}  // namespace

void create_ah(Context& context, Request& request) {
  const auto req = request.in<ib_uverbs_create_ah>(UVERBS_ATTR_CORE_IN);
  require(req.attr.port_num == 1, EINVAL);
  auto& pd = context.find<PdObject>(req.pd_handle).pd();
  mlx5_ib_create_ah_resp own{};
  if (link_layer() == LinkLayer::kEthernet) own = resolve(req.attr, context.client.device.index);
  own.response_length = static_cast<std::uint32_t>(std::min(sizeof own, request.bytes_of(UVERBS_ATTR_UHW_OUT)));
  const auto handle = context.next_handle();
  auto ah = std::make_unique<AhObject>(context.client, pd);
  request.out(UVERBS_ATTR_CORE_OUT, std::uint32_t{handle});  // ib_uverbs_create_ah_resp: one word
  request.out(UVERBS_ATTR_UHW_OUT, own);
  context.add(handle, std::move(ah));
}

void destroy_ah(Context& context, Request& request) {
  context.remove(request.handle(UVERBS_ATTR_DESTROY_AH_HANDLE), ObjectKind::kAh);
}

}  // namespace marrow::cx7::abi
