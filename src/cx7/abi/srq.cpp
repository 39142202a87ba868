// SPDX-License-Identifier: Apache-2.0
// Shared receive queues of the verbs, basic ones and those of XRC, which name a domain and complete in a CQ of their
// own. Facts: attributes and structs [abi]; a slot is a power of two that holds the chain's segment and the scatter
// list, and the kernel is told of every slot but one [dv].
#include <algorithm>
#include <bit>

#include "cx7/abi/schema_table.h"
#include "cx7/fw/limits.h"
#include "util/log.h"

namespace marrow::cx7::abi {
namespace {

constexpr std::uint32_t kMaxWr = 1u << 0;  // ib_srq_attr_mask, which no uapi header names
constexpr std::uint32_t kLimit = 1u << 1;

// The ring as libmlx5 laid it out.
void place_ring(const mlx5_ib_create_srq& own, SrqObject::Said& said, Srq& srq) {
  require(said.max_wr <= kMaxSrqEntries, EINVAL);
  require(said.max_sge < kMaxRecvWqeBytes / wire::kDsBytes, EINVAL);
  srq.entries = std::bit_ceil(said.max_wr + 1);
  srq.stride_bytes = std::max(kMinSrqSlotBytes, std::bit_ceil((1 + said.max_sge) * wire::kDsBytes));
  srq.base = check_memory(own.buf_addr, std::uint64_t{srq.entries} * srq.stride_bytes);
  require(own.db_addr % sizeof(wire::be32) == 0, EINVAL);
  srq.dbrec = reinterpret_cast<wire::be32*>(check_memory(own.db_addr, sizeof(wire::be32)));
}

XrcdObject* take_xrc(const Context& context, const Request& request, Srq& srq) {
  require(request.has(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE) && request.has(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE), EINVAL);
  auto& xrcd = context.find<XrcdObject>(request.handle(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE));
  srq.xrcd = xrcd.number();
  srq.cq = &context.find<CqObject>(request.handle(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE)).cq();
  return &xrcd;
}

std::uint64_t check_type(const Request& request) {
  const auto type = request.number(UVERBS_ATTR_CREATE_SRQ_TYPE);
  if (type == IB_UVERBS_SRQT_BASIC || type == IB_UVERBS_SRQT_XRC) return type;
  util::log::once(fmt::format("abi.srq.{}", type), "uverbs: SRQ type {} is not modelled, only basic and XRC are", type);
  refuse(EOPNOTSUPP);
}

}  // namespace

std::shared_ptr<EventChannel> async_channel(const Context& context, const Request& request, std::uint16_t id) {
  return request.has(id) ? context.channel_of(request.fd(id)) : context.default_async;
}

void create_srq(Context& context, Request& request) {
  const auto own = request.in<mlx5_ib_create_srq>(UVERBS_ATTR_UHW_IN);
  const auto type = check_type(request);
  require(own.flags == 0, EOPNOTSUPP);
  require(own.reserved0 == 0 && own.reserved1 == 0, EINVAL);
  SrqObject::Said said{.user_handle = request.number(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE),
                       .max_wr = request.number32(UVERBS_ATTR_CREATE_SRQ_MAX_WR),
                       .max_sge = request.number32(UVERBS_ATTR_CREATE_SRQ_MAX_SGE)};
  Srq srq;
  place_ring(own, said, srq);
  srq.pdn = context.find<PdObject>(request.handle(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE)).pd().pdn;
  srq.user_index = own.uidx & 0xffffff;
  srq.limit = request.number32(UVERBS_ATTR_CREATE_SRQ_LIMIT);
  SrqObject::Holds holds{.async = async_channel(context, request, UVERBS_ATTR_CREATE_SRQ_EVENT_FD)};
  if (type == IB_UVERBS_SRQT_XRC) holds.xrcd = take_xrc(context, request, srq);

  const auto handle = context.next_handle();
  auto object = std::make_unique<SrqObject>(context.client, srq, std::move(holds));
  object->said = said;
  request.out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, srq.entries - 1);
  request.out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, said.max_sge);
  request.out(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, object->srq().srqn);
  request.out(UVERBS_ATTR_UHW_OUT, mlx5_ib_create_srq_resp{.srqn = object->srq().srqn, .reserved = 0});
  request.set_handle(UVERBS_ATTR_CREATE_SRQ_HANDLE, handle);
  context.add(handle, std::move(object));
}

void destroy_srq(Context& context, Request& request) {
  const auto handle = request.handle(UVERBS_ATTR_DESTROY_SRQ_HANDLE);
  auto& object = context.find<SrqObject>(handle);
  require(!object.busy(), EBUSY);
  request.out(UVERBS_ATTR_DESTROY_SRQ_RESP, object.settle_events());
  context.remove(handle, ObjectKind::kSrq);
}

// The limit alone: the real driver does not resize either.
void modify_srq(Context& context, Request& request) {
  const auto req = request.in<ib_uverbs_modify_srq>(UVERBS_ATTR_CORE_IN);
  auto& object = context.find<SrqObject>(req.srq_handle);
  require((req.attr_mask & ~(kMaxWr | kLimit)) == 0 && (req.attr_mask & kMaxWr) == 0, EINVAL);
  if ((req.attr_mask & kLimit) == 0) return;
  require(req.srq_limit < object.srq().entries, EINVAL);
  object.srq().limit = req.srq_limit;
}

void query_srq(Context& context, Request& request) {
  const auto req = request.in<ib_uverbs_query_srq>(UVERBS_ATTR_CORE_IN);
  const auto& object = context.find<SrqObject>(req.srq_handle);
  ib_uverbs_query_srq_resp resp{};
  resp.max_wr = object.srq().entries - 1;
  resp.max_sge = object.said.max_sge;
  resp.srq_limit = object.srq().limit;
  request.out(UVERBS_ATTR_CORE_OUT, resp);
}

}  // namespace marrow::cx7::abi
