// SPDX-License-Identifier: Apache-2.0
// MODIFY_QP: which transition may carry which attributes, and what they turn into.
// Facts: required and optional attributes of RC [prm: IBA vol. 1, table "QP state transition properties"], as the
// kernel's ib_modify_qp_is_ok checks them; mask bits and state numbers have no uapi header [dv: ibv_qp_attr_mask].
#include <algorithm>
#include <cstring>

#include "cx7/abi/schema_table.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/path.h"
#include "util/log.h"

namespace marrow::cx7::abi {
namespace {

enum Mask : std::uint32_t {
  kState = 1u << 0,
  kCurrentState = 1u << 1,
  kAccess = 1u << 3,
  kPkeyIndex = 1u << 4,
  kPort = 1u << 5,
  kAv = 1u << 7,
  kPathMtu = 1u << 8,
  kTimeout = 1u << 9,
  kRetryCount = 1u << 10,
  kRnrRetry = 1u << 11,
  kRecvPsn = 1u << 12,
  kInitiatorReads = 1u << 13,
  kAltPath = 1u << 14,
  kMinRnrTimer = 1u << 15,
  kSendPsn = 1u << 16,
  kResponderReads = 1u << 17,
  kMigration = 1u << 18,
  kDestQpn = 1u << 20,
};
constexpr std::uint32_t kNotModelled = kAltPath | kMigration;

constexpr std::uint8_t kVerbsError = 6;

struct Row {
  QpState from{};
  QpState to{};
  std::uint32_t required = 0;
  std::uint32_t optional = 0;
};

// From any state but RESET to ERR, and from any to RESET, with nothing else: not in the table.
constexpr Row kRows[] = {
    {QpState::kReset, QpState::kInit, kPkeyIndex | kPort | kAccess, 0},
    {QpState::kInit, QpState::kInit, 0, kPkeyIndex | kPort | kAccess},
    {QpState::kInit, QpState::kRtr, kAv | kPathMtu | kDestQpn | kRecvPsn | kResponderReads | kMinRnrTimer,
     kAltPath | kAccess | kPkeyIndex},
    {QpState::kRtr, QpState::kRts, kTimeout | kRetryCount | kRnrRetry | kSendPsn | kInitiatorReads,
     kCurrentState | kAltPath | kAccess | kMinRnrTimer | kMigration},
    {QpState::kRts, QpState::kRts, 0, kCurrentState | kAccess | kAltPath | kMigration | kMinRnrTimer},
};

// Verbs and firmware number the states alike up to RTS; behind it verbs has SQD, SQE, ERR [dv: ibv_qp_state].
QpState state_of(std::uint8_t verbs) {
  if (verbs <= static_cast<std::uint8_t>(QpState::kRts)) return static_cast<QpState>(verbs);
  require(verbs == kVerbsError, EINVAL);  // SQD and SQE are not modelled
  return QpState::kError;
}

void check_mask(QpState from, QpState to, std::uint32_t mask) {
  const auto attributes = mask & ~std::uint32_t{kState};
  if (to == QpState::kReset || (to == QpState::kError && from != QpState::kReset)) {
    require(attributes == 0, EINVAL);
    return;
  }
  const auto* const row =
      std::find_if(std::begin(kRows), std::end(kRows), [=](const Row& r) { return r.from == from && r.to == to; });
  require(row != std::end(kRows), EINVAL);
  require((attributes & row->required) == row->required, EINVAL);
  require((attributes & ~(row->required | row->optional)) == 0, EINVAL);
  if ((attributes & kNotModelled) == 0) return;
  util::log::once("abi.apm", "uverbs: alternate paths are not modelled");
  refuse(EOPNOTSUPP);
}

void check_values(const ib_uverbs_modify_qp& req) {
  const auto given = [&req](std::uint32_t bit) { return (req.attr_mask & bit) != 0; };
  const auto in_range = [&](std::uint32_t bit, bool good) { require(!given(bit) || good, EINVAL); };
  in_range(kPort, req.port_num == 1);
  in_range(kPkeyIndex, req.pkey_index < kPkeyTableLength);
  in_range(kPathMtu, req.path_mtu >= 1 && req.path_mtu <= kMaxMtuCode);
  in_range(kInitiatorReads, req.max_rd_atomic <= kMaxReads);
  in_range(kResponderReads, req.max_dest_rd_atomic <= kMaxReads);
  in_range(kTimeout, req.timeout < 32);
  in_range(kRetryCount, req.retry_cnt < 8);
  in_range(kRnrRetry, req.rnr_retry < 8);
  in_range(kMinRnrTimer, req.min_rnr_timer < 32);
  in_range(kDestQpn, req.dest_qp_num <= 0xffffff);
  in_range(kAccess,
           (req.qp_access_flags & ~std::uint32_t{kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic}) == 0);
}

std::uint8_t destination(const ib_uverbs_qp_dest& dest, std::uint8_t device) {
  require(dest.port_num == 1, EINVAL);
  const bool ethernet = link_layer() == LinkLayer::kEthernet;
  require(!ethernet || dest.is_global != 0, EINVAL);
  require(dest.is_global == 0 || dest.sgid_index < gid_table(device).size(), EINVAL);
  Path path{.has_gid = dest.is_global != 0, .lid = dest.dlid};
  std::memcpy(path.gid.data(), dest.dgid, path.gid.size());
  return destination_of(path);
}

/// Copies what the mask names; the rest stays as it was.
QpAttributes merge(const Qp& qp, const ib_uverbs_modify_qp& req, std::uint8_t device) {
  auto a = qp.attributes;
  const auto given = [&req](std::uint32_t bit) { return (req.attr_mask & bit) != 0; };
  a.device = device;
  if (given(kAccess)) a.access = req.qp_access_flags;
  if (given(kAv)) a.remote_device = destination(req.dest, device);
  if (given(kPathMtu)) a.mtu_bytes = 128u << req.path_mtu;
  if (given(kDestQpn)) a.remote_qpn = req.dest_qp_num;
  if (given(kRecvPsn)) a.recv_psn = req.rq_psn & 0xffffff;
  if (given(kSendPsn)) a.send_psn = req.sq_psn & 0xffffff;
  if (given(kResponderReads)) a.responder_reads = req.max_dest_rd_atomic;
  if (given(kInitiatorReads)) a.initiator_reads = req.max_rd_atomic;
  if (given(kMinRnrTimer)) a.min_rnr_nak = req.min_rnr_timer;
  if (given(kTimeout)) a.ack_timeout = req.timeout;
  if (given(kRetryCount)) a.retry_count = req.retry_cnt;
  if (given(kRnrRetry)) a.rnr_retry = req.rnr_retry;
  return a;
}

void apply(Context& context, const ib_uverbs_modify_qp& req) {
  auto& object = context.find<QpObject>(req.qp_handle);
  auto& qp = object.qp();
  const auto to = (req.attr_mask & kState) != 0 ? state_of(req.qp_state) : qp.state;
  if ((req.attr_mask & kCurrentState) != 0) require(state_of(req.cur_qp_state) == qp.state, EINVAL);
  check_mask(qp.state, to, req.attr_mask);
  check_values(req);
  const auto device = context.client.device.index;
  const auto attributes = merge(qp, req, device);
  require(context.client.engine.modify_qp(context.client.device, qp, to, attributes) == Engine::Modify::kOk, EINVAL);
  if ((req.attr_mask & kAv) != 0) object.said.dest = req.dest;
  if ((req.attr_mask & kPort) != 0) object.said.port = req.port_num;
}

}  // namespace

std::uint8_t verbs_state(QpState state) {
  return state == QpState::kError ? kVerbsError : static_cast<std::uint8_t>(state);
}

void modify_qp(Context& context, Request& request) {
  apply(context, request.in<ib_uverbs_modify_qp>(UVERBS_ATTR_CORE_IN));
}

void modify_qp_ex(Context& context, Request& request) {
  const auto req = request.in<ib_uverbs_ex_modify_qp>(UVERBS_ATTR_CORE_IN);
  const auto own = request.in<mlx5_ib_modify_qp>(UVERBS_ATTR_UHW_IN);
  require(req.rate_limit == 0 && own.burst_info.max_burst_sz == 0 && own.ece_options == 0, EOPNOTSUPP);
  require(own.comp_mask == 0, EOPNOTSUPP);
  apply(context, req.base);
  ib_uverbs_ex_modify_qp_resp resp{};
  resp.response_length = sizeof resp;
  request.out(UVERBS_ATTR_CORE_OUT, resp);
  mlx5_ib_modify_qp_resp own_resp{};
  own_resp.response_length =
      static_cast<std::uint32_t>(std::min(sizeof own_resp, request.bytes_of(UVERBS_ATTR_UHW_OUT)));
  request.out(UVERBS_ATTR_UHW_OUT, own_resp);
}

}  // namespace marrow::cx7::abi
