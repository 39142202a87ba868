// SPDX-License-Identifier: Apache-2.0
// Shared receive queues of the verbs, as far as DC targets need one: a DCT names an SRQ even where only RDMA comes. No
// receive is ever taken from it, and a QP that wants one is refused.
// Facts: attributes and structs [abi].
#include "cx7/abi/schema_table.h"
#include "cx7/fw/limits.h"
#include "util/log.h"

namespace marrow::cx7::abi {

void create_srq(Context& context, Request& request) {
  const auto own = request.in<mlx5_ib_create_srq>(UVERBS_ATTR_UHW_IN);
  const auto type = request.number(UVERBS_ATTR_CREATE_SRQ_TYPE);
  if (type != IB_UVERBS_SRQT_BASIC) {
    util::log::once(fmt::format("abi.srq.{}", type), "uverbs: SRQ type {} is not modelled, only basic is", type);
    refuse(EOPNOTSUPP);
  }
  const auto entries = request.number32(UVERBS_ATTR_CREATE_SRQ_MAX_WR);
  const auto sges = request.number32(UVERBS_ATTR_CREATE_SRQ_MAX_SGE);
  require(entries != 0 && entries <= kMaxSrqEntries && sges <= kMaxSges, EINVAL);
  require(request.number32(UVERBS_ATTR_CREATE_SRQ_LIMIT) == 0, EOPNOTSUPP);  // no event would come
  require(own.flags == 0, EOPNOTSUPP);
  require(own.reserved0 == 0 && own.reserved1 == 0, EINVAL);
  static_cast<void>(check_memory(own.buf_addr, std::uint64_t{entries} * wire::kDsBytes));
  static_cast<void>(check_memory(own.db_addr, sizeof(wire::be32)));
  auto& pd = context.find<PdObject>(request.handle(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE)).pd();

  const auto handle = context.next_handle();
  auto object = std::make_unique<SrqObject>(context.client, pd);
  request.out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, entries);
  request.out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, sges);
  request.out(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, object->number());
  request.out(UVERBS_ATTR_UHW_OUT, mlx5_ib_create_srq_resp{.srqn = object->number(), .reserved = 0});
  request.set_handle(UVERBS_ATTR_CREATE_SRQ_HANDLE, handle);
  context.add(handle, std::move(object));
}

void destroy_srq(Context& context, Request& request) {
  const auto handle = request.handle(UVERBS_ATTR_DESTROY_SRQ_HANDLE);
  require(!context.find<SrqObject>(handle).busy(), EBUSY);
  request.out(UVERBS_ATTR_DESTROY_SRQ_RESP, ib_uverbs_destroy_srq_resp{.events_reported = 0});
  context.remove(handle, ObjectKind::kSrq);
}

}  // namespace marrow::cx7::abi
