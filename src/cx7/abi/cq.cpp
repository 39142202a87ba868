// SPDX-License-Identifier: Apache-2.0
// Completion queues and completion channels of the verbs.
// Facts: structs and flags [abi]; that the reply's cqe is a power of two less one, from which libmlx5 derives its mask
// and owner bit [dv].
#include <bit>

#include "cx7/abi/schema_table.h"
#include "cx7/fw/limits.h"
#include "cx7/hca/memory.h"
#include "util/log.h"

namespace marrow::cx7::abi {
namespace {

void check_flags(const Request& request, const mlx5_ib_create_cq& own) {
  const auto flags = request.number32(UVERBS_ATTR_CREATE_CQ_FLAGS);
  require((flags & ~std::uint32_t{IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN}) == 0, EOPNOTSUPP);
  require(own.flags == MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX, EOPNOTSUPP);
  require(own.cqe_comp_en == 0 && own.cqe_comp_res_format == 0, EOPNOTSUPP);
  require(own.reserved0 == 0 && own.reserved1 == 0, EINVAL);
  require(own.cqe_size == 64 || own.cqe_size == 128, EINVAL);
}

std::uint32_t log_entries_of(std::uint32_t cqe) {
  require(cqe != 0 && cqe < (1u << kLogMaxCqEntries), EINVAL);
  return static_cast<std::uint32_t>(std::bit_width(cqe));  // room for cqe + 1, rounded up to a power of two
}

CqObject::Channels channels_of(const Context& context, const Request& request) {
  CqObject::Channels channels{.completion = nullptr, .async = context.default_async};
  if (request.has(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL)) {
    channels.completion = context.channel_of(request.fd(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL));
  }
  if (request.has(UVERBS_ATTR_CREATE_CQ_EVENT_FD)) {
    channels.async = context.channel_of(request.fd(UVERBS_ATTR_CREATE_CQ_EVENT_FD));
  }
  return channels;
}

}  // namespace

void create_comp_channel(Context& context, Request& request) {
  const auto channel = context.add_channel(sizeof(ib_uverbs_comp_event_desc));
  util::UniqueFd read_end(channel->release_read_end());
  request.out(UVERBS_ATTR_CORE_OUT,
              ib_uverbs_create_comp_channel_resp{.fd = static_cast<std::uint32_t>(read_end.get())});
  static_cast<void>(read_end.release());
}

void create_cq(Context& context, Request& request) {
  const auto own = request.in<mlx5_ib_create_cq>(UVERBS_ATTR_UHW_IN);
  check_flags(request, own);
  require(request.number(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR) < kCompletionVectors, EINVAL);
  require(context.client.uars.contains(own.uar_page_index), EINVAL);
  Cq cq;
  cq.uar_page = own.uar_page_index;
  cq.log_entries = log_entries_of(request.number32(UVERBS_ATTR_CREATE_CQ_CQE));
  cq.entry_bytes = own.cqe_size;
  cq.overrun_ignore = (request.number32(UVERBS_ATTR_CREATE_CQ_FLAGS) & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN) != 0;
  cq.entries = check_memory(own.buf_addr, std::uint64_t{own.cqe_size} << cq.log_entries);
  require(own.db_addr % sizeof(wire::CqDbrec) == 0, EINVAL);
  cq.dbrec = reinterpret_cast<wire::CqDbrec*>(check_memory(own.db_addr, sizeof(wire::CqDbrec)));
  cq.user_handle = request.number(UVERBS_ATTR_CREATE_CQ_USER_HANDLE);

  const auto handle = context.next_handle();
  auto object = std::make_unique<CqObject>(context.client, cq, channels_of(context, request));
  request.out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, (std::uint32_t{1} << cq.log_entries) - 1);
  request.out(UVERBS_ATTR_UHW_OUT, mlx5_ib_create_cq_resp{.cqn = object->cq().cqn, .reserved = 0});
  request.set_handle(UVERBS_ATTR_CREATE_CQ_HANDLE, handle);
  context.add(handle, std::move(object));
}

// libmlx5 copies what is unread itself, up to the last CQE of the old buffer.
void resize_cq(Context& context, Request& request) {
  const auto req = request.in<ib_uverbs_resize_cq>(UVERBS_ATTR_CORE_IN);
  const auto own = request.in<mlx5_ib_resize_cq>(UVERBS_ATTR_UHW_IN);
  require(own.reserved0 == 0 && own.reserved1 == 0, EINVAL);
  auto& cq = context.find<CqObject>(req.cq_handle).cq();
  const auto log_entries = log_entries_of(req.cqe);
  const auto cqe = (std::uint32_t{1} << log_entries) - 1;
  if (log_entries != cq.log_entries) {
    require(own.cqe_size == cq.entry_bytes, EINVAL);
    std::byte* const entries = check_memory(own.buf_addr, std::uint64_t{own.cqe_size} << log_entries);
    const CqMemory to{.entries = entries, .log_entries = log_entries, .entry_bytes = own.cqe_size};
    require(context.client.engine.resize_cq(context.client.device, cq, to), EINVAL);
  }
  request.out(UVERBS_ATTR_CORE_OUT, std::uint64_t{cqe});  // ib_uverbs_resize_cq_resp: cqe, and a reserved word
}

void destroy_cq(Context& context, Request& request) {
  const auto handle = request.handle(UVERBS_ATTR_DESTROY_CQ_HANDLE);
  auto& object = context.find<CqObject>(handle);
  require(!object.busy(), EBUSY);
  request.out(UVERBS_ATTR_DESTROY_CQ_RESP, object.settle_events());
  context.remove(handle, ObjectKind::kCq);
}

}  // namespace marrow::cx7::abi
