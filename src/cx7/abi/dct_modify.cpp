// SPDX-License-Identifier: Apache-2.0
// DC targets of the verbs: two transitions, of which the second makes the target and gives it its number.
// Facts: attributes of each, and that there is no other transition [abi, as the kernel's mlx5_ib_modify_dct has them].
#include "cx7/abi/schema_table.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/path.h"

namespace marrow::cx7::abi {
namespace {

// ibv_qp_attr_mask, which no uapi header names.
constexpr std::uint32_t kState = 1u << 0;
constexpr std::uint32_t kToInit = kState | 1u << 3 | 1u << 4 | 1u << 5;  // access, P_Key index, port
constexpr std::uint32_t kToRtr = kState | 1u << 7 | 1u << 8 | 1u << 15;  // address, path MTU, RNR timer

constexpr std::uint32_t kRemoteRights = kRemoteWrite | kRemoteRead | kRemoteAtomic;

void to_init(FutureDct& dct, const ib_uverbs_modify_qp& req) {
  require(req.attr_mask == kToInit, EINVAL);
  require(req.port_num == 1 && req.pkey_index < kPkeyTableLength, EINVAL);
  dct.attributes.access = req.qp_access_flags & kRemoteRights;
  dct.attributes.responder_reads = kMaxReads;
  dct.state = QpState::kInit;
}

void to_rtr(std::uint8_t device, FutureDct& dct, const ib_uverbs_modify_qp& req) {
  require(req.attr_mask == kToRtr, EINVAL);
  require(req.path_mtu >= 1 && req.path_mtu <= active_mtu_code(device) && req.min_rnr_timer < 32, EINVAL);
  require(req.dest.is_global == 0 || req.dest.sgid_index < gid_table(device).size(), EINVAL);
  dct.attributes.mtu_bytes = 128u << req.path_mtu;
  dct.attributes.min_rnr_nak = req.min_rnr_timer;
  dct.state = QpState::kRtr;
}

}  // namespace

std::uint32_t modify_dct(Context& context, QpObject& object, const ib_uverbs_modify_qp& req) {
  auto& dct = object.dct;
  require((req.attr_mask & kState) != 0, EINVAL);
  if (dct.state == QpState::kReset && req.qp_state == static_cast<std::uint8_t>(QpState::kInit)) {
    to_init(dct, req);
    return 0;
  }
  require(dct.state == QpState::kInit && req.qp_state == static_cast<std::uint8_t>(QpState::kRtr), EINVAL);
  to_rtr(context.client.device.index, dct, req);
  object.make_dct();
  return object.config().qpn;
}

}  // namespace marrow::cx7::abi
