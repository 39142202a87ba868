// SPDX-License-Identifier: Apache-2.0
// Every method of the kernel's uverbs that is modelled, with every attribute it takes. What is not here is refused.
// Facts: numbers and names [abi: rdma/ib_user_ioctl_cmds.h, mlx5_user_ioctl_cmds.h]; types and least sizes [abi, as
// the kernel's method tables have them, restated by what libibverbs and libmlx5 send].
#pragma once

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include <cstddef>

#include "cx7/abi/commands.h"
#include "cx7/abi/schema.h"

namespace marrow::cx7::abi::table {

inline constexpr auto M = Need::kMandatory;
inline constexpr auto O = Need::kOptional;
inline constexpr std::uint16_t kMailbox = 16;  // the shortest firmware mailbox, in or out

// clang-format off
#define MARROW_IN(id, need, bytes)      {id, AttrType::kIn, need, bytes, ObjectKind::kNone, #id}
#define MARROW_OUT(id, need, bytes)     {id, AttrType::kOut, need, bytes, ObjectKind::kNone, #id}
#define MARROW_OBJECT(id, need, kind)   {id, AttrType::kHandle, need, 0, ObjectKind::kind, #id}
#define MARROW_NEW(id)                  {id, AttrType::kNewHandle, M, 0, ObjectKind::kNone, #id}
#define MARROW_FD(id, need)             {id, AttrType::kFd, need, 0, ObjectKind::kNone, #id}
#define MARROW_NEW_FD(id)               {id, AttrType::kNewFd, M, 0, ObjectKind::kNone, #id}

inline constexpr AttrSpec kInvokeWrite[] = {
    MARROW_IN(UVERBS_ATTR_WRITE_CMD, M, 4),
    MARROW_IN(UVERBS_ATTR_CORE_IN, O, 0),
    MARROW_OUT(UVERBS_ATTR_CORE_OUT, O, 0),
    MARROW_IN(UVERBS_ATTR_UHW_IN, O, 0),
    MARROW_OUT(UVERBS_ATTR_UHW_OUT, O, 0)};
inline constexpr AttrSpec kGetContext[] = {
    MARROW_OUT(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, O, 4),
    MARROW_OUT(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, O, 8),
    MARROW_IN(UVERBS_ATTR_UHW_IN, M, offsetof(mlx5_ib_alloc_ucontext_req_v2, flags)),
    MARROW_OUT(UVERBS_ATTR_UHW_OUT, M, offsetof(mlx5_ib_alloc_ucontext_resp, response_length))};
inline constexpr AttrSpec kQueryContext[] = {
    MARROW_OUT(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, O, 4),
    MARROW_OUT(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, O, 8),
    MARROW_OUT(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, O, offsetof(mlx5_ib_alloc_ucontext_resp, response_length))};
inline constexpr AttrSpec kQueryPort[] = {
    MARROW_IN(UVERBS_ATTR_QUERY_PORT_PORT_NUM, M, 1),
    MARROW_OUT(UVERBS_ATTR_QUERY_PORT_RESP, M, sizeof(ib_uverbs_query_port_resp))};
inline constexpr AttrSpec kQueryGidTable[] = {
    MARROW_IN(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, M, 4),
    MARROW_IN(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, O, 4),
    MARROW_OUT(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, M, 0),
    MARROW_OUT(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, M, 8)};
inline constexpr AttrSpec kQueryGidEntry[] = {
    MARROW_IN(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, M, 4),
    MARROW_IN(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, M, 4),
    MARROW_IN(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, O, 4),
    MARROW_OUT(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, M, offsetof(ib_uverbs_gid_entry, netdev_ifindex))};
inline constexpr AttrSpec kAsyncEventAlloc[] = {
    MARROW_NEW_FD(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)};
inline constexpr AttrSpec kPdDestroy[] = {MARROW_OBJECT(UVERBS_ATTR_DESTROY_PD_HANDLE, M, kPd)};
inline constexpr AttrSpec kPdQuery[] = {
    MARROW_OBJECT(MLX5_IB_ATTR_QUERY_PD_HANDLE, M, kPd),
    MARROW_OUT(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, M, 4)};
inline constexpr AttrSpec kMrQuery[] = {
    MARROW_OBJECT(UVERBS_ATTR_QUERY_MR_HANDLE, M, kMr),
    MARROW_OUT(UVERBS_ATTR_QUERY_MR_RESP_LKEY, M, 4),
    MARROW_OUT(UVERBS_ATTR_QUERY_MR_RESP_RKEY, M, 4),
    MARROW_OUT(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, M, 8),
    MARROW_OUT(UVERBS_ATTR_QUERY_MR_RESP_IOVA, O, 8)};
inline constexpr AttrSpec kMrAdvise[] = {
    MARROW_OBJECT(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, M, kPd),
    MARROW_IN(UVERBS_ATTR_ADVISE_MR_ADVICE, M, 4),
    MARROW_IN(UVERBS_ATTR_ADVISE_MR_FLAGS, M, 4),
    MARROW_IN(UVERBS_ATTR_ADVISE_MR_SGE_LIST, M, sizeof(ib_uverbs_sge))};
inline constexpr AttrSpec kMrRegDmabuf[] = {
    MARROW_NEW(UVERBS_ATTR_REG_DMABUF_MR_HANDLE),
    MARROW_OBJECT(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, M, kPd),
    MARROW_IN(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, M, 8),
    MARROW_IN(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, M, 8),
    MARROW_IN(UVERBS_ATTR_REG_DMABUF_MR_IOVA, M, 8),
    MARROW_IN(UVERBS_ATTR_REG_DMABUF_MR_FD, M, 4),  // a number like any other, unlike the other descriptors
    MARROW_IN(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, M, 4),
    MARROW_OUT(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, M, 4),
    MARROW_OUT(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, M, 4)};
inline constexpr AttrSpec kMrDestroy[] = {MARROW_OBJECT(UVERBS_ATTR_DESTROY_MR_HANDLE, M, kMr)};
inline constexpr AttrSpec kMwDestroy[] = {MARROW_OBJECT(UVERBS_ATTR_DESTROY_MW_HANDLE, M, kMw)};
inline constexpr AttrSpec kAhDestroy[] = {MARROW_OBJECT(UVERBS_ATTR_DESTROY_AH_HANDLE, M, kAh)};
inline constexpr AttrSpec kCqCreate[] = {
    MARROW_NEW(UVERBS_ATTR_CREATE_CQ_HANDLE),
    MARROW_IN(UVERBS_ATTR_CREATE_CQ_CQE, M, 4),
    MARROW_IN(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, M, 8),
    MARROW_FD(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, O),
    MARROW_IN(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, M, 4),
    MARROW_IN(UVERBS_ATTR_CREATE_CQ_FLAGS, O, 4),
    MARROW_OUT(UVERBS_ATTR_CREATE_CQ_RESP_CQE, M, 4),
    MARROW_FD(UVERBS_ATTR_CREATE_CQ_EVENT_FD, O),
    MARROW_IN(UVERBS_ATTR_UHW_IN, M, offsetof(mlx5_ib_create_cq, flags)),
    MARROW_OUT(UVERBS_ATTR_UHW_OUT, M, 4)};
inline constexpr AttrSpec kCqDestroy[] = {
    MARROW_OBJECT(UVERBS_ATTR_DESTROY_CQ_HANDLE, M, kCq),
    MARROW_OUT(UVERBS_ATTR_DESTROY_CQ_RESP, M, sizeof(ib_uverbs_destroy_cq_resp))};
inline constexpr AttrSpec kSrqCreate[] = {
    MARROW_NEW(UVERBS_ATTR_CREATE_SRQ_HANDLE),
    MARROW_OBJECT(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, M, kPd),
    MARROW_IN(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, M, 8),
    MARROW_IN(UVERBS_ATTR_CREATE_SRQ_MAX_WR, M, 4),
    MARROW_IN(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, M, 4),
    MARROW_IN(UVERBS_ATTR_CREATE_SRQ_LIMIT, M, 4),
    MARROW_IN(UVERBS_ATTR_CREATE_SRQ_TYPE, M, 1),
    MARROW_OBJECT(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, O, kXrcd),
    MARROW_OBJECT(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, O, kCq),
    MARROW_FD(UVERBS_ATTR_CREATE_SRQ_EVENT_FD, O),
    MARROW_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, M, 4),
    MARROW_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, M, 4),
    MARROW_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, O, 4),
    MARROW_IN(UVERBS_ATTR_UHW_IN, M, offsetof(mlx5_ib_create_srq, uidx)),
    MARROW_OUT(UVERBS_ATTR_UHW_OUT, M, 4)};
inline constexpr AttrSpec kSrqDestroy[] = {
    MARROW_OBJECT(UVERBS_ATTR_DESTROY_SRQ_HANDLE, M, kSrq),
    MARROW_OUT(UVERBS_ATTR_DESTROY_SRQ_RESP, M, sizeof(ib_uverbs_destroy_srq_resp))};
inline constexpr AttrSpec kXrcdDestroy[] = {MARROW_OBJECT(UVERBS_ATTR_DESTROY_XRCD_HANDLE, M, kXrcd)};
inline constexpr AttrSpec kQpCreate[] = {
    MARROW_NEW(UVERBS_ATTR_CREATE_QP_HANDLE),
    MARROW_OBJECT(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, O, kXrcd),
    MARROW_OBJECT(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, O, kSrq),
    MARROW_OBJECT(UVERBS_ATTR_CREATE_QP_PD_HANDLE, O, kPd),
    MARROW_OBJECT(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, O, kCq),
    MARROW_OBJECT(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, O, kCq),
    MARROW_IN(UVERBS_ATTR_CREATE_QP_USER_HANDLE, M, 8),
    MARROW_IN(UVERBS_ATTR_CREATE_QP_CAP, M, sizeof(ib_uverbs_qp_cap)),
    MARROW_IN(UVERBS_ATTR_CREATE_QP_TYPE, M, 1),
    MARROW_IN(UVERBS_ATTR_CREATE_QP_FLAGS, O, 4),
    MARROW_FD(UVERBS_ATTR_CREATE_QP_EVENT_FD, O),
    MARROW_OUT(UVERBS_ATTR_CREATE_QP_RESP_CAP, M, sizeof(ib_uverbs_qp_cap)),
    MARROW_OUT(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, M, 4),
    MARROW_IN(UVERBS_ATTR_UHW_IN, M, offsetof(mlx5_ib_create_qp, ece_options)),
    MARROW_OUT(UVERBS_ATTR_UHW_OUT, O, 4)};
inline constexpr AttrSpec kQpDestroy[] = {
    MARROW_OBJECT(UVERBS_ATTR_DESTROY_QP_HANDLE, M, kQp),
    MARROW_OUT(UVERBS_ATTR_DESTROY_QP_RESP, M, sizeof(ib_uverbs_destroy_qp_resp))};

inline constexpr AttrSpec kUarAlloc[] = {
    MARROW_NEW(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE),
    MARROW_IN(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, M, 1),
    MARROW_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, M, 8),
    MARROW_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, M, 4),
    MARROW_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, M, 4)};
inline constexpr AttrSpec kUarDestroy[] = {MARROW_OBJECT(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, M, kUar)};
inline constexpr AttrSpec kDevxOther[] = {
    MARROW_IN(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, M, kMailbox),
    MARROW_OUT(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, M, kMailbox)};
inline constexpr AttrSpec kDevxQueryEqn[] = {
    MARROW_IN(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, M, 4),
    MARROW_OUT(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, M, 4)};
inline constexpr AttrSpec kDevxObjCreate[] = {
    MARROW_NEW(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE),
    MARROW_IN(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, M, kMailbox),
    MARROW_OUT(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, M, kMailbox)};
inline constexpr AttrSpec kDevxObjDestroy[] = {MARROW_OBJECT(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, M, kDevx)};
inline constexpr AttrSpec kDevxObjModify[] = {
    MARROW_OBJECT(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, M, kAny),
    MARROW_IN(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, M, kMailbox),
    MARROW_OUT(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, M, kMailbox)};
inline constexpr AttrSpec kDevxObjQuery[] = {
    MARROW_OBJECT(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, M, kAny),
    MARROW_IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, M, kMailbox),
    MARROW_OUT(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, M, kMailbox)};
inline constexpr AttrSpec kDevxUmemReg[] = {
    MARROW_NEW(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE),
    MARROW_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, M, 8),
    MARROW_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, M, 8),
    MARROW_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, O, 4),
    MARROW_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, O, 8),
    MARROW_OUT(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, M, 4)};
inline constexpr AttrSpec kDevxUmemDereg[] = {MARROW_OBJECT(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, M, kUmem)};

#undef MARROW_IN
#undef MARROW_OUT
#undef MARROW_OBJECT
#undef MARROW_NEW
#undef MARROW_FD
#undef MARROW_NEW_FD

#define MARROW_METHOD(object, method, run, attrs) {object, method, #method, run, attrs}
inline constexpr MethodSpec kMethods[] = {
    MARROW_METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, invoke_write, kInvokeWrite),
    MARROW_METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, get_context, kGetContext),
    MARROW_METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, query_context, kQueryContext),
    MARROW_METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, query_port, kQueryPort),
    MARROW_METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, query_gid_table, kQueryGidTable),
    MARROW_METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, query_gid_entry, kQueryGidEntry),
    MARROW_METHOD(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, async_event_alloc, kAsyncEventAlloc),
    MARROW_METHOD(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, destroy_pd, kPdDestroy),
    MARROW_METHOD(UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, query_pd, kPdQuery),
    MARROW_METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, advise_mr, kMrAdvise),
    MARROW_METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, query_mr, kMrQuery),
    MARROW_METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, reg_dmabuf_mr, kMrRegDmabuf),
    MARROW_METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, destroy_mr, kMrDestroy),
    MARROW_METHOD(UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, destroy_mw, kMwDestroy),
    MARROW_METHOD(UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, destroy_ah, kAhDestroy),
    MARROW_METHOD(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, create_cq, kCqCreate),
    MARROW_METHOD(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, destroy_cq, kCqDestroy),
    MARROW_METHOD(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, create_srq, kSrqCreate),
    MARROW_METHOD(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, destroy_srq, kSrqDestroy),
    MARROW_METHOD(UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY, destroy_xrcd, kXrcdDestroy),
    MARROW_METHOD(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, create_qp, kQpCreate),
    MARROW_METHOD(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, destroy_qp, kQpDestroy),
    MARROW_METHOD(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, uar_alloc, kUarAlloc),
    MARROW_METHOD(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, uar_destroy, kUarDestroy),
    MARROW_METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, devx_other, kDevxOther),
    MARROW_METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN, devx_query_eqn, kDevxQueryEqn),
    MARROW_METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, devx_obj_create, kDevxObjCreate),
    MARROW_METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, devx_obj_destroy, kDevxObjDestroy),
    MARROW_METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, devx_obj_modify, kDevxObjModify),
    MARROW_METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, devx_obj_query, kDevxObjQuery),
    MARROW_METHOD(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG, devx_umem_reg, kDevxUmemReg),
    MARROW_METHOD(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, devx_umem_dereg, kDevxUmemDereg),
};
#undef MARROW_METHOD

#define MARROW_WRITE(command, in, out, run) {static_cast<std::uint32_t>(command), in, out, run}
#define MARROW_WRITE_EX(command, in, out, run) \
  {IB_USER_VERBS_CMD_FLAG_EXTENDED | static_cast<std::uint32_t>(command), in, out, run}
inline constexpr WriteSpec kWrites[] = {
    MARROW_WRITE(IB_USER_VERBS_CMD_QUERY_DEVICE, sizeof(ib_uverbs_query_device),
                 sizeof(ib_uverbs_query_device_resp), query_device),
    MARROW_WRITE_EX(IB_USER_VERBS_EX_CMD_QUERY_DEVICE, sizeof(ib_uverbs_ex_query_device),
                    offsetof(ib_uverbs_ex_query_device_resp, odp_caps), query_device_ex),
    MARROW_WRITE(IB_USER_VERBS_CMD_ALLOC_PD, sizeof(ib_uverbs_alloc_pd), sizeof(ib_uverbs_alloc_pd_resp), alloc_pd),
    MARROW_WRITE(IB_USER_VERBS_CMD_REG_MR, sizeof(ib_uverbs_reg_mr), sizeof(ib_uverbs_reg_mr_resp), reg_mr),
    MARROW_WRITE(IB_USER_VERBS_CMD_REREG_MR, sizeof(ib_uverbs_rereg_mr), sizeof(ib_uverbs_rereg_mr_resp), rereg_mr),
    MARROW_WRITE(IB_USER_VERBS_CMD_ALLOC_MW, sizeof(ib_uverbs_alloc_mw), sizeof(ib_uverbs_alloc_mw_resp), alloc_mw),
    MARROW_WRITE(IB_USER_VERBS_CMD_RESIZE_CQ, sizeof(ib_uverbs_resize_cq), sizeof(ib_uverbs_resize_cq_resp), resize_cq),
    MARROW_WRITE(IB_USER_VERBS_CMD_CREATE_AH, sizeof(ib_uverbs_create_ah), sizeof(ib_uverbs_create_ah_resp), create_ah),
    MARROW_WRITE(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, sizeof(ib_uverbs_create_comp_channel),
                 sizeof(ib_uverbs_create_comp_channel_resp), create_comp_channel),
    MARROW_WRITE(IB_USER_VERBS_CMD_MODIFY_SRQ, sizeof(ib_uverbs_modify_srq), 0, modify_srq),
    MARROW_WRITE(IB_USER_VERBS_CMD_QUERY_SRQ, sizeof(ib_uverbs_query_srq), sizeof(ib_uverbs_query_srq_resp), query_srq),
    MARROW_WRITE(IB_USER_VERBS_CMD_OPEN_XRCD, sizeof(ib_uverbs_open_xrcd), sizeof(ib_uverbs_open_xrcd_resp), open_xrcd),
    MARROW_WRITE(IB_USER_VERBS_CMD_QUERY_QP, sizeof(ib_uverbs_query_qp), sizeof(ib_uverbs_query_qp_resp), query_qp),
    MARROW_WRITE(IB_USER_VERBS_CMD_MODIFY_QP, sizeof(ib_uverbs_modify_qp), 0, modify_qp),
    MARROW_WRITE_EX(IB_USER_VERBS_EX_CMD_MODIFY_QP, sizeof(ib_uverbs_modify_qp),
                    sizeof(ib_uverbs_ex_modify_qp_resp), modify_qp_ex),
};
#undef MARROW_WRITE
#undef MARROW_WRITE_EX
// clang-format on

}  // namespace marrow::cx7::abi::table
