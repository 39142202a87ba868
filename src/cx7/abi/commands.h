// SPDX-License-Identifier: Apache-2.0
// The commands behind the rows of schema_table.h, one file an object. Each throws Errno to refuse.
#pragma once

#include "cx7/abi/context.h"
#include "cx7/abi/request.h"

namespace marrow::cx7::abi {

// device.cpp
void get_context(Context&, Request&);
void query_context(Context&, Request&);
void query_device(Context&, Request&);
void query_device_ex(Context&, Request&);
void async_event_alloc(Context&, Request&);
// port_query.cpp
void query_port(Context&, Request&);
void query_gid_table(Context&, Request&);
void query_gid_entry(Context&, Request&);
// memory.cpp
enum class OnDemand : std::uint8_t { kRefused, kAllowed };
/// Rights of an MR or umem, after the kernel's rules.
std::uint32_t check_access(std::uint32_t flags, OnDemand on_demand = OnDemand::kRefused);
/// The range as a pointer: EINVAL when it is empty or wraps, EFAULT when part of it is not mapped.
std::byte* check_memory(std::uint64_t start, std::uint64_t bytes);
/// The same for what an application registers: also memory of a GPU, as where the kernel can ask the GPU's driver for
/// its pages (nvidia-peermem).
std::byte* check_registrable(Engine& engine, std::uint64_t start, std::uint64_t bytes);
void alloc_pd(Context&, Request&);
void destroy_pd(Context&, Request&);
void query_pd(Context&, Request&);
void reg_mr(Context&, Request&);
void reg_dmabuf_mr(Context&, Request&);
void destroy_mr(Context&, Request&);
void query_mr(Context&, Request&);
void rereg_mr(Context&, Request&);
// prefetch.cpp
void advise_mr(Context&, Request&);
void alloc_mw(Context&, Request&);
void destroy_mw(Context&, Request&);
// ah.cpp
void create_ah(Context&, Request&);
void destroy_ah(Context&, Request&);
// cq.cpp
void create_comp_channel(Context&, Request&);
void create_cq(Context&, Request&);
void resize_cq(Context&, Request&);
void destroy_cq(Context&, Request&);
// srq.cpp
/// The channel that a creation names, or the context's own.
std::shared_ptr<EventChannel> async_channel(const Context&, const Request&, std::uint16_t id);
void create_srq(Context&, Request&);
void destroy_srq(Context&, Request&);
void modify_srq(Context&, Request&);
void query_srq(Context&, Request&);
void open_xrcd(Context&, Request&);
void destroy_xrcd(Context&, Request&);
// qp.cpp
void create_qp(Context&, Request&);
void destroy_qp(Context&, Request&);
void query_qp(Context&, Request&);
// dct_modify.cpp
/// MODIFY_QP of a DC target; returns its number once it has one.
std::uint32_t modify_dct(Context&, QpObject&, const ib_uverbs_modify_qp&);
// qp_modify.cpp
/// enum ib_qp_state's number for a state.
std::uint8_t verbs_state(QpState state);
void modify_qp(Context&, Request&);
void modify_qp_ex(Context&, Request&);
// uar.cpp
void uar_alloc(Context&, Request&);
void uar_destroy(Context&, Request&);
// devx.cpp
void devx_other(Context&, Request&);
void devx_query_eqn(Context&, Request&);
void devx_obj_create(Context&, Request&);
void devx_obj_destroy(Context&, Request&);
void devx_obj_modify(Context&, Request&);
void devx_obj_query(Context&, Request&);
void devx_umem_reg(Context&, Request&);
void devx_umem_dereg(Context&, Request&);
// invoke_write.cpp
void invoke_write(Context&, Request&);

}  // namespace marrow::cx7::abi
