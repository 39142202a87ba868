// SPDX-License-Identifier: Apache-2.0
// Queue pairs of the verbs: create, destroy, query. RC, UC, UD, both ends of XRC and both of DC.
// Facts: structs and flags [abi]; receive ring first, send ring behind it in one buffer [dv].
#include <bit>
#include <utility>

#include "cx7/abi/schema_table.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/path.h"
#include "util/log.h"

namespace marrow::cx7::abi {
namespace {

// Both kinds of scatter-to-CQE are hints: a device that does not do it writes to memory as the WQE says.
constexpr std::uint32_t kHints = MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE;

/// What a type of the verbs is, and which objects it is made with.
struct Kind {
  std::uint64_t type = 0;
  std::uint32_t flags = 0;  // the driver's, with type "driver"
  ServiceType service{};
  bool sends = true;     // PD, send CQ, UAR page
  bool receives = true;  // receive CQ; with XRC those of SRQs
};

constexpr Kind kKinds[] = {
    {IB_UVERBS_QPT_RC, 0, ServiceType::kRc},
    {IB_UVERBS_QPT_UC, 0, ServiceType::kUc},
    {IB_UVERBS_QPT_UD, 0, ServiceType::kUd},
    {IB_UVERBS_QPT_XRC_INI, 0, ServiceType::kXrc, true, false},
    {IB_UVERBS_QPT_XRC_TGT, 0, ServiceType::kXrc, false, false},
    {IB_UVERBS_QPT_DRIVER, MLX5_QP_FLAG_TYPE_DCI, ServiceType::kDci},
    {IB_UVERBS_QPT_DRIVER, MLX5_QP_FLAG_TYPE_DCT, ServiceType::kDct},
};
constexpr std::uint32_t kDcFlags = MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT;

const Kind& kind_of(const Request& request, const mlx5_ib_create_qp& own) {
  const auto type = request.number(UVERBS_ATTR_CREATE_QP_TYPE);
  for (const auto& kind : kKinds) {
    if (kind.type == type && kind.flags == (own.flags & kDcFlags)) return kind;
  }
  util::log::once(fmt::format("abi.qp.{}", type), "uverbs: QP type {} is not modelled", type);
  refuse(EOPNOTSUPP);
}

void check_flags(const Request& request, const mlx5_ib_create_qp& own, const Kind& kind) {
  const auto flags = request.number32(UVERBS_ATTR_CREATE_QP_FLAGS);
  // There is no multicast, so none of it comes back.
  const bool multicast = kind.service == ServiceType::kUd;
  const std::uint32_t blocked = multicast ? IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK : 0;
  require((flags & ~(IB_UVERBS_QP_CREATE_SQ_SIG_ALL | blocked)) == 0, EOPNOTSUPP);
  const bool dct = kind.service == ServiceType::kDct;  // it has no queues, and its key where others have a buffer
  const std::uint32_t page = dct ? 0 : MLX5_QP_FLAG_UAR_PAGE_INDEX;
  require((own.flags & ~(kHints | kDcFlags)) == page, EOPNOTSUPP);
  require(own.ece_options == 0, EOPNOTSUPP);
  require((dct || own.sq_buf_addr == 0) && own.reserved == 0, EINVAL);
}

void check_caps(const ib_uverbs_qp_cap& cap) {
  require(cap.max_send_wr <= (1u << kLogMaxSqWqebbs) && cap.max_recv_wr <= (1u << kLogMaxRqEntries), EINVAL);
  require(cap.max_send_sge <= kMaxSges && cap.max_recv_sge <= kMaxSges, EINVAL);
  require(cap.max_inline_data <= kMaxSendWqeBytes, EINVAL);
}

constexpr std::uint32_t kLogMinRecvWqe = 4;  // one data segment

struct Sizes {
  std::uint32_t count = 0;
  std::uint32_t log_max = 0;
};

bool is_ring(const Sizes& sizes) {
  return sizes.count == 0 || (std::has_single_bit(sizes.count) && sizes.count <= (1u << sizes.log_max));
}

// The rings as libmlx5 laid them out.
void place_rings(const mlx5_ib_create_qp& own, QpConfig& config) {
  require(is_ring({own.sq_wqe_count, kLogMaxSqWqebbs}) && is_ring({own.rq_wqe_count, kLogMaxRqEntries}), EINVAL);
  const bool has_rq = own.rq_wqe_count != 0;
  require(!has_rq || (own.rq_wqe_shift >= kLogMinRecvWqe && own.rq_wqe_shift <= log2_of(kMaxRecvWqeBytes)), EINVAL);
  const auto rq_bytes = has_rq ? std::uint64_t{own.rq_wqe_count} << own.rq_wqe_shift : 0;
  const auto bytes = rq_bytes + std::uint64_t{own.sq_wqe_count} * wire::kWqebbBytes;
  std::byte* const base = bytes == 0 ? nullptr : check_memory(own.buf_addr, bytes);
  if (has_rq) config.rq = {base, own.rq_wqe_count, 1u << own.rq_wqe_shift};
  if (own.sq_wqe_count != 0) config.sq = {base + rq_bytes, own.sq_wqe_count};
  require(own.db_addr % sizeof(wire::QpDbrec) == 0, EINVAL);
  config.dbrec = reinterpret_cast<wire::QpDbrec*>(check_memory(own.db_addr, sizeof(wire::QpDbrec)));
}

Cq* cq_of(const Context& context, const Request& request, std::uint16_t id) {
  return request.has(id) ? &context.find<CqObject>(request.handle(id)).cq() : nullptr;
}

Srq* srq_of(const Context& context, const Request& request) {
  if (!request.has(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE)) return nullptr;
  auto& srq = context.find<SrqObject>(request.handle(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE)).srq();
  require(srq.xrcd == 0, EINVAL);
  return &srq;
}

XrcdObject* xrcd_of(const Context& context, const Request& request) {
  if (!request.has(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE)) return nullptr;
  return &context.find<XrcdObject>(request.handle(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE));
}

// Each type has exactly the objects that it needs.
void take_objects(const Context& context, const Request& request, const Kind& kind, QpConfig& config) {
  require(request.has(UVERBS_ATTR_CREATE_QP_PD_HANDLE) == kind.sends, EINVAL);
  if (kind.sends) config.pdn = context.find<PdObject>(request.handle(UVERBS_ATTR_CREATE_QP_PD_HANDLE)).pd().pdn;
  config.send_cq = cq_of(context, request, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
  config.recv_cq = cq_of(context, request, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
  require((config.send_cq != nullptr) == kind.sends && (config.recv_cq != nullptr) == kind.receives, EINVAL);
  config.srq = srq_of(context, request);
  const auto* const xrcd = xrcd_of(context, request);
  require((xrcd != nullptr) != kind.sends, EINVAL);
  if (xrcd != nullptr) config.xrcd = xrcd->number();
}

QpConfig config_of(const Context& context, const Request& request, const Kind& kind) {
  const auto own = request.in<mlx5_ib_create_qp>(UVERBS_ATTR_UHW_IN);
  QpConfig config;
  config.service = kind.service;
  take_objects(context, request, kind, config);
  config.user_index = own.uidx & 0xffffff;
  config.user_handle = request.number(UVERBS_ATTR_CREATE_QP_USER_HANDLE);
  if (kind.service == ServiceType::kDct) {
    require(config.srq != nullptr, EINVAL);
    config.uar_page = kNoUarPage;
    return config;
  }
  require(context.client.uars.contains(own.bfreg_index), EINVAL);
  config.uar_page = own.bfreg_index;
  if (kind.service == ServiceType::kUd || kind.service == ServiceType::kDci) config.routing = fw::routing();
  if (!kind.sends) return config;  // libmlx5 lays out rings for an XRC target too, and nobody uses them
  place_rings(own, config);
  require(config.rq.entries == 0 || (kind.receives && config.srq == nullptr), EINVAL);
  return config;
}

void tell_attributes(const Qp& qp, ib_uverbs_query_qp_resp& resp) {
  const auto& a = qp.attributes;
  resp.rq_psn = a.recv_psn;
  resp.sq_psn = a.send_psn;
  resp.dest_qp_num = a.remote_qpn;
  resp.qkey = a.qkey;
  resp.qp_access_flags = a.access;
  resp.path_mtu = a.mtu_bytes == 0 ? 0 : static_cast<std::uint8_t>(log2_of(a.mtu_bytes / 128));
  resp.max_rd_atomic = a.initiator_reads;
  resp.max_dest_rd_atomic = a.responder_reads;
  resp.min_rnr_timer = a.min_rnr_nak;
  resp.timeout = a.ack_timeout;
  resp.retry_cnt = a.retry_count;
  resp.rnr_retry = a.rnr_retry;
}

}  // namespace

void create_qp(Context& context, Request& request) {
  const auto own = request.in<mlx5_ib_create_qp>(UVERBS_ATTR_UHW_IN);
  auto cap = request.in<ib_uverbs_qp_cap>(UVERBS_ATTR_CREATE_QP_CAP);
  const auto& kind = kind_of(request, own);
  check_flags(request, own, kind);
  check_caps(cap);
  const auto config = config_of(context, request, kind);
  QpObject::Holds holds{.async = async_channel(context, request, UVERBS_ATTR_CREATE_QP_EVENT_FD),
                        .xrcd = xrcd_of(context, request)};
  cap.max_recv_wr = config.rq.entries;  // as rounded up by libmlx5, which does not take more
  cap.max_recv_sge = config.rq.stride_bytes / std::uint32_t{sizeof(wire::DataSegment)};
  const auto handle = context.next_handle();
  auto object = std::make_unique<QpObject>(context.client, config, std::move(holds));
  object->said.cap = cap;
  object->dct.access_key = kind.service == ServiceType::kDct ? own.access_key : 0;
  object->said.all_signaled = (request.number32(UVERBS_ATTR_CREATE_QP_FLAGS) & IB_UVERBS_QP_CREATE_SQ_SIG_ALL) != 0;
  request.out(UVERBS_ATTR_CREATE_QP_RESP_CAP, cap);
  request.out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, object->config().qpn);
  mlx5_ib_create_qp_resp resp{};
  resp.bfreg_index = own.bfreg_index;
  request.out(UVERBS_ATTR_UHW_OUT, resp);
  request.set_handle(UVERBS_ATTR_CREATE_QP_HANDLE, handle);
  context.add(handle, std::move(object));
}

void destroy_qp(Context& context, Request& request) {
  const auto handle = request.handle(UVERBS_ATTR_DESTROY_QP_HANDLE);
  request.out(UVERBS_ATTR_DESTROY_QP_RESP, context.find<QpObject>(handle).settle_events());
  context.remove(handle, ObjectKind::kQp);
}

void query_qp(Context& context, Request& request) {
  const auto req = request.in<ib_uverbs_query_qp>(UVERBS_ATTR_CORE_IN);
  const auto& object = context.find<QpObject>(req.qp_handle);
  const auto& said = object.said;
  ib_uverbs_query_qp_resp resp{};
  tell_attributes(object.qp(), resp);
  resp.dest = said.dest;
  resp.max_send_wr = said.cap.max_send_wr;
  resp.max_recv_wr = said.cap.max_recv_wr;
  resp.max_send_sge = said.cap.max_send_sge;
  resp.max_recv_sge = said.cap.max_recv_sge;
  resp.max_inline_data = said.cap.max_inline_data;
  resp.port_num = said.port;
  resp.sq_sig_all = said.all_signaled ? 1 : 0;
  resp.qp_state = resp.cur_qp_state = verbs_state(object.qp().state);
  request.out(UVERBS_ATTR_CORE_OUT, resp);
}

}  // namespace marrow::cx7::abi
