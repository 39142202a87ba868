// SPDX-License-Identifier: Apache-2.0
// GET_CONTEXT, QUERY_CONTEXT, QUERY_DEVICE in both forms, and the asynchronous event file.
// Facts: structs [abi: mlx5-abi.h, ib_user_verbs.h]; that tot_bfregs 0 selects dynamic UARs, that CQE version 1 makes
// CQEs carry the user index [dv]; limits [limits.h].
#include <algorithm>

#include "cx7/abi/schema_table.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/port.h"
#include "util/log.h"

namespace marrow::cx7::abi {
namespace {

constexpr std::uint64_t kLibCaps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR;
constexpr std::uint32_t kPageSizes = 0xfffff000;
constexpr std::uint32_t kQpTableSize = 1u << 24;  // QP numbers carry the process's slot in their upper 8 bits

// enum ib_device_cap_flags and ib_atomic_cap, which no uapi header names [dv: ibv_device_cap_flags, ibv_atomic_cap].
constexpr std::uint32_t kCapPortActiveEvent = 1u << 10;
constexpr std::uint32_t kCapSystemImageGuid = 1u << 11;
constexpr std::uint32_t kCapRnrNak = 1u << 12;
constexpr std::uint32_t kCapMemoryWindow = 1u << 17;
constexpr std::uint32_t kCapXrc = 1u << 20;
constexpr std::uint32_t kCapMemoryManagement = 1u << 21;  // sends that invalidate, local invalidation
constexpr std::uint32_t kCapMemoryWindow2B = 1u << 24;
constexpr std::uint32_t kDeviceCaps = kCapPortActiveEvent | kCapSystemImageGuid | kCapRnrNak | kCapMemoryWindow |
                                      kCapXrc | kCapMemoryManagement | kCapMemoryWindow2B;
constexpr std::uint32_t kAtomicWithinHca = 1;

// What may meet a page that is not there [dv: ibv_odp_general_caps, ibv_odp_transport_cap_bits].
constexpr std::uint64_t kOdp = 1u << 0;
constexpr std::uint64_t kOdpImplicit = 1u << 1;
constexpr std::uint32_t kOdpSend = 1u << 0;
constexpr std::uint32_t kOdpConnected = 0x3f;  // sends, receives, writes, reads, atomics, receives of an SRQ

void check_context_request(const mlx5_ib_alloc_ucontext_req_v2& req) {
  require((req.flags & ~static_cast<std::uint32_t>(MLX5_IB_ALLOC_UCTX_DEVX)) == 0, EINVAL);
  require(req.comp_mask == 0 && req.reserved0 == 0 && req.reserved1 == 0 && req.reserved2 == 0, EOPNOTSUPP);
  if ((req.lib_caps & kLibCaps) == kLibCaps && req.max_cqe_version >= 1) return;
  util::log::once("abi.libmlx5", "uverbs: this libmlx5 knows no dynamic UARs or no CQE version 1: too old");
  refuse(EOPNOTSUPP);
}

mlx5_ib_alloc_ucontext_resp context_reply() {
  mlx5_ib_alloc_ucontext_resp resp{};
  resp.qp_tab_size = kQpTableSize;
  resp.bf_reg_size = kBlueFlameBytes;
  resp.tot_bfregs = 0;
  resp.cache_line_size = 64;
  resp.max_sq_desc_sz = kMaxSendWqeBytes;
  resp.max_rq_desc_sz = kMaxRecvWqeBytes;
  resp.max_send_wqebb = 1u << kLogMaxSqWqebbs;
  resp.max_recv_wr = 1u << kLogMaxRqEntries;
  resp.max_srq_recv_wr = kMaxSrqEntries;
  resp.num_ports = kPorts;
  resp.cqe_version = 1;
  resp.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH;
  resp.eth_min_inline = MLX5_USER_INLINE_MODE_NONE;
  resp.log_uar_size = 12;
  resp.num_uars_per_page = 1;
  resp.num_dyn_bfregs = 1024;
  return resp;
}

ib_uverbs_query_device_resp attributes_of(std::uint8_t device) {
  const auto& facts = device_facts(device);
  ib_uverbs_query_device_resp resp{};
  resp.fw_ver = kFirmwareVersionWord;
  resp.node_guid = wire::be64(facts.node_guid).raw;
  resp.sys_image_guid = wire::be64(facts.system_image_guid).raw;
  resp.max_mr_size = UINT64_MAX;
  resp.page_size_cap = kPageSizes;
  resp.vendor_id = kVendorId;
  resp.vendor_part_id = kPciDevice;
  resp.hw_ver = kHardwareVersion;
  resp.max_qp = kMaxObjects;
  resp.max_qp_wr = 1u << kLogMaxSqWqebbs;
  resp.device_cap_flags = kDeviceCaps;
  resp.max_sge = kMaxSges;
  resp.max_sge_rd = kMaxSges;
  resp.max_cq = kMaxObjects;
  resp.max_cqe = (1u << kLogMaxCqEntries) - 1;
  resp.max_mr = kMaxObjects;
  resp.max_mw = kMaxObjects;
  resp.max_pd = kMaxObjects;
  resp.max_srq = kMaxObjects;
  resp.max_srq_wr = kMaxSrqEntries;
  resp.max_srq_sge = kMaxSges;
  resp.max_qp_rd_atom = kMaxReads;
  resp.max_res_rd_atom = kMaxReads * kMaxObjects;
  resp.max_qp_init_rd_atom = kMaxReads;
  resp.atomic_cap = kAtomicWithinHca;
  resp.max_ah = kMaxObjects;
  resp.max_pkeys = kPkeyTableLength;
  resp.local_ca_ack_delay = 16;
  resp.phys_port_cnt = kPorts;
  return resp;
}

}  // namespace

void get_context(Context& context, Request& request) {
  require(!context.open, EINVAL);
  const auto req = request.in<mlx5_ib_alloc_ucontext_req_v2>(UVERBS_ATTR_UHW_IN);
  check_context_request(req);
  auto resp = context_reply();
  resp.response_length = static_cast<std::uint32_t>(std::min(sizeof resp, request.bytes_of(UVERBS_ATTR_UHW_OUT)));
  request.out(UVERBS_ATTR_UHW_OUT, resp);
  request.out(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, kCompletionVectors);
  request.out(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, std::uint64_t{IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS});
  context.open = true;
  context.devx = (req.flags & MLX5_IB_ALLOC_UCTX_DEVX) != 0;
}

// What a process asks that got the descriptor and not the context.
void query_context(Context&, Request& request) {
  auto resp = context_reply();
  constexpr auto kOwn = MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX;
  if (request.has(kOwn)) {
    resp.response_length = static_cast<std::uint32_t>(std::min(sizeof resp, request.bytes_of(kOwn)));
    request.out(kOwn, resp);
  }
  request.out(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, kCompletionVectors);
  request.out(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, std::uint64_t{IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS});
}

void query_device(Context& context, Request& request) {
  request.out(UVERBS_ATTR_CORE_OUT, attributes_of(context.client.device.index));
}

void query_device_ex(Context& context, Request& request) {
  const auto req = request.in<ib_uverbs_ex_query_device>(UVERBS_ATTR_CORE_IN);
  require(req.comp_mask == 0 && req.reserved == 0, EINVAL);
  ib_uverbs_ex_query_device_resp resp{};
  resp.base = attributes_of(context.client.device.index);
  resp.response_length = static_cast<std::uint32_t>(std::min(sizeof resp, request.bytes_of(UVERBS_ATTR_CORE_OUT)));
  resp.device_cap_flags_ex = kDeviceCaps;
  resp.odp_caps.general_caps = kOdp | kOdpImplicit;
  resp.odp_caps.per_transport_caps = {.rc_odp_caps = kOdpConnected, .uc_odp_caps = 0, .ud_odp_caps = kOdpSend};
  resp.xrc_odp_caps = kOdpConnected;
  request.out(UVERBS_ATTR_CORE_OUT, resp);
  mlx5_ib_query_device_resp own{};
  own.response_length = static_cast<std::uint32_t>(std::min(sizeof own, request.bytes_of(UVERBS_ATTR_UHW_OUT)));
  request.out(UVERBS_ATTR_UHW_OUT, own);
}

void async_event_alloc(Context& context, Request& request) {
  const auto channel = context.add_channel(sizeof(ib_uverbs_async_event_desc));
  util::UniqueFd read_end(channel->release_read_end());
  request.set_fd(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, read_end.get());
  if (!context.default_async) context.default_async = channel;
  static_cast<void>(read_end.release());
}

}  // namespace marrow::cx7::abi
