// SPDX-License-Identifier: Apache-2.0
// MODIFY_QP: which transition may carry which attributes, and what they turn into.
// Facts: required and optional attributes of each transport [prm: IBA vol. 1, table "QP state transition properties"],
// as the kernel's ib_modify_qp_is_ok checks them; mask bits and state numbers have no uapi header [dv:
// ibv_qp_attr_mask].
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
  kQkey = 1u << 6,
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

constexpr std::uint32_t kQpRights = kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic | kWindowBind;
constexpr std::uint32_t kOnDemand = IB_UVERBS_ACCESS_ON_DEMAND;  // says something of regions, and nothing of a QP

constexpr std::uint8_t kVerbsSendError = 5;
constexpr std::uint8_t kVerbsError = 6;

/// Whose rules: XRC has different ones for its two ends.
enum class Rules : std::uint8_t { kRc, kUc, kUd, kInitiator, kTarget, kDci };

struct Row {
  Rules rules{};
  QpState from{};
  QpState to{};
  std::uint32_t required = 0;
  std::uint32_t optional = 0;
};

// From any state but RESET to ERR, and from any to RESET, with nothing else: not in the table.
constexpr std::uint32_t kPathBits = kAv | kPathMtu | kDestQpn | kRecvPsn;
constexpr std::uint32_t kResponderBits = kResponderReads | kMinRnrTimer;
constexpr std::uint32_t kRetryBits = kTimeout | kRetryCount | kRnrRetry | kInitiatorReads;
constexpr std::uint32_t kBound = kPkeyIndex | kPort;
constexpr std::uint32_t kInRtr = kAltPath | kAccess | kPkeyIndex;
constexpr std::uint32_t kInRts = kCurrentState | kAltPath | kAccess | kMigration;

constexpr auto kReset = QpState::kReset;
constexpr auto kInit = QpState::kInit;
constexpr auto kRtr = QpState::kRtr;
constexpr auto kRts = QpState::kRts;
constexpr auto kSqe = QpState::kSqer;

// clang-format off
constexpr Row kRows[] = {
    {Rules::kRc, kReset, kInit, kBound | kAccess, 0},
    {Rules::kRc, kInit, kInit, 0, kBound | kAccess},
    {Rules::kRc, kInit, kRtr, kPathBits | kResponderBits, kInRtr},
    {Rules::kRc, kRtr, kRts, kRetryBits | kSendPsn, kInRts | kMinRnrTimer},
    {Rules::kRc, kRts, kRts, 0, kInRts | kMinRnrTimer},
    {Rules::kUc, kReset, kInit, kBound | kAccess, 0},
    {Rules::kUc, kInit, kInit, 0, kBound | kAccess},
    {Rules::kUc, kInit, kRtr, kPathBits, kInRtr},
    {Rules::kUc, kRtr, kRts, kSendPsn, kInRts},
    {Rules::kUc, kRts, kRts, 0, kInRts},
    {Rules::kUc, kSqe, kRts, 0, kCurrentState | kAccess},
    {Rules::kUd, kReset, kInit, kBound | kQkey, 0},
    {Rules::kUd, kInit, kInit, 0, kBound | kQkey},
    {Rules::kUd, kInit, kRtr, 0, kPkeyIndex | kQkey},
    {Rules::kUd, kRtr, kRts, kSendPsn, kCurrentState | kQkey},
    {Rules::kUd, kRts, kRts, 0, kCurrentState | kQkey},
    {Rules::kUd, kSqe, kRts, 0, kCurrentState | kQkey},
    {Rules::kInitiator, kReset, kInit, kBound | kAccess, 0},
    {Rules::kInitiator, kInit, kInit, 0, kBound | kAccess},
    {Rules::kInitiator, kInit, kRtr, kPathBits, kInRtr},
    {Rules::kInitiator, kRtr, kRts, kRetryBits | kSendPsn, kInRts},
    {Rules::kInitiator, kRts, kRts, 0, kInRts},
    {Rules::kTarget, kReset, kInit, kBound | kAccess, 0},
    {Rules::kTarget, kInit, kInit, 0, kBound | kAccess},
    {Rules::kTarget, kInit, kRtr, kPathBits | kResponderBits, kInRtr},
    {Rules::kTarget, kRtr, kRts, kTimeout | kSendPsn, kInRts | kMinRnrTimer},
    {Rules::kTarget, kRts, kRts, 0, kInRts | kMinRnrTimer},
    {Rules::kDci, kReset, kInit, kBound, 0},
    {Rules::kDci, kInit, kInit, 0, kBound},
    {Rules::kDci, kInit, kRtr, kPathMtu, kPkeyIndex | kAv},
    {Rules::kDci, kRtr, kRts, kRetryBits | kSendPsn, kMinRnrTimer},
    {Rules::kDci, kRts, kRts, 0, kMinRnrTimer},
};
// clang-format on

Rules rules_of(const QpConfig& config) {
  switch (config.service) {
    case ServiceType::kUc:
      return Rules::kUc;
    case ServiceType::kUd:
      return Rules::kUd;
    case ServiceType::kDci:
      return Rules::kDci;
    case ServiceType::kXrc:
      return config.xrcd != 0 ? Rules::kTarget : Rules::kInitiator;
    default:
      return Rules::kRc;
  }
}

// Verbs and firmware number the states alike up to RTS and in ERR; between them verbs has SQD, SQE [dv: ibv_qp_state].
QpState state_of(std::uint8_t verbs) {
  if (verbs <= static_cast<std::uint8_t>(QpState::kRts)) return static_cast<QpState>(verbs);
  if (verbs == kVerbsSendError) return QpState::kSqer;
  require(verbs == kVerbsError, EINVAL);  // SQD is not modelled
  return QpState::kError;
}

void check_mask(const Qp& qp, QpState to, std::uint32_t mask) {
  const auto from = qp.state;
  const auto rules = rules_of(qp.config);
  const auto attributes = mask & ~std::uint32_t{kState};
  if (to == QpState::kReset || (to == QpState::kError && from != QpState::kReset)) {
    require(attributes == 0, EINVAL);
    return;
  }
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows),
                                       [=](const Row& r) { return r.rules == rules && r.from == from && r.to == to; });
  require(row != std::end(kRows), EINVAL);
  require((attributes & row->required) == row->required, EINVAL);
  require((attributes & ~(row->required | row->optional)) == 0, EINVAL);
  if ((attributes & kNotModelled) == 0) return;
  util::log::once("abi.apm", "uverbs: alternate paths are not modelled");
  refuse(EOPNOTSUPP);
}

void check_values(const ib_uverbs_modify_qp& req, std::uint8_t device) {
  const auto given = [&req](std::uint32_t bit) { return (req.attr_mask & bit) != 0; };
  const auto in_range = [&](std::uint32_t bit, bool good) { require(!given(bit) || good, EINVAL); };
  in_range(kPort, req.port_num == 1);
  in_range(kPkeyIndex, req.pkey_index < kPkeyTableLength);
  in_range(kPathMtu, req.path_mtu >= 1 && req.path_mtu <= active_mtu_code(device));
  in_range(kInitiatorReads, req.max_rd_atomic <= kMaxReads);
  in_range(kResponderReads, req.max_dest_rd_atomic <= kMaxReads);
  in_range(kTimeout, req.timeout < 32);
  in_range(kRetryCount, req.retry_cnt < 8);
  in_range(kRnrRetry, req.rnr_retry < 8);
  in_range(kMinRnrTimer, req.min_rnr_timer < 32);
  in_range(kDestQpn, req.dest_qp_num <= 0xffffff);
  in_range(kAccess, (req.qp_access_flags & ~(kQpRights | kOnDemand)) == 0);
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
  if (given(kAccess)) a.access = req.qp_access_flags & kQpRights;
  if (given(kQkey)) a.qkey = req.qkey;
  if (qp.config.service == ServiceType::kUd) a.mtu_bytes = 128u << active_mtu_code(device);
  if (given(kAv)) a.remote_device = destination(req.dest, device);
  if (qp.config.service == ServiceType::kDci) a.remote_device = kNoDevice;  // each WQE says where it goes
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

// What an end of XRC has no use for is ignored, not refused [abi: modify_qp_mask].
std::uint32_t mask_for(Rules rules, std::uint32_t mask) {
  if (rules == Rules::kInitiator) return mask & ~(kResponderReads | kMinRnrTimer);
  if (rules == Rules::kTarget) return mask & ~(kInitiatorReads | kRetryCount | kRnrRetry);
  return mask;
}

/// Returns the number that a DC target got.
std::uint32_t apply(Context& context, ib_uverbs_modify_qp req) {
  auto& object = context.find<QpObject>(req.qp_handle);
  if (object.config().service == ServiceType::kDct) return modify_dct(context, object, req);
  auto& qp = object.qp();
  req.attr_mask = mask_for(rules_of(qp.config), req.attr_mask);
  const auto to = (req.attr_mask & kState) != 0 ? state_of(req.qp_state) : qp.state;
  if ((req.attr_mask & kCurrentState) != 0) require(state_of(req.cur_qp_state) == qp.state, EINVAL);
  check_mask(qp, to, req.attr_mask);
  const auto device = context.client.device.index;
  check_values(req, device);
  const auto attributes = merge(qp, req, device);
  require(context.client.engine.modify_qp(context.client.device, qp, to, attributes) == Engine::Modify::kOk, EINVAL);
  if ((req.attr_mask & kAv) != 0) object.said.dest = req.dest;
  if ((req.attr_mask & kPort) != 0) object.said.port = req.port_num;
  return 0;
}

}  // namespace

std::uint8_t verbs_state(QpState state) {
  return state == QpState::kSqer ? kVerbsSendError : static_cast<std::uint8_t>(state);
}

void modify_qp(Context& context, Request& request) {
  static_cast<void>(apply(context, request.in<ib_uverbs_modify_qp>(UVERBS_ATTR_CORE_IN)));
}

void modify_qp_ex(Context& context, Request& request) {
  const auto req = request.in<ib_uverbs_ex_modify_qp>(UVERBS_ATTR_CORE_IN);
  const auto own = request.in<mlx5_ib_modify_qp>(UVERBS_ATTR_UHW_IN);
  require(req.rate_limit == 0 && own.burst_info.max_burst_sz == 0 && own.ece_options == 0, EOPNOTSUPP);
  require(own.comp_mask == 0, EOPNOTSUPP);
  const auto dctn = apply(context, req.base);
  ib_uverbs_ex_modify_qp_resp resp{};
  resp.response_length = sizeof resp;
  request.out(UVERBS_ATTR_CORE_OUT, resp);
  mlx5_ib_modify_qp_resp own_resp{};
  own_resp.dctn = dctn;
  own_resp.response_length =
      static_cast<std::uint32_t>(std::min(sizeof own_resp, request.bytes_of(UVERBS_ATTR_UHW_OUT)));
  request.out(UVERBS_ATTR_UHW_OUT, own_resp);
}

}  // namespace marrow::cx7::abi
