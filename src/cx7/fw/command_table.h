// SPDX-License-Identifier: Apache-2.0
// The firmware's commands. What is not a row here is answered with BAD_OPCODE.
#pragma once

#include "cx7/fw/command.h"
#include "cx7/fw/mailbox_table.h"

namespace marrow::cx7::fw {

/// Opcodes that only the software NIC knows; the others are wire::prm::Command's.
inline constexpr auto kQueryRoceAddress = static_cast<Command>(0x760);
inline constexpr auto kQueryHcaVportContext = static_cast<Command>(0x762);
inline constexpr auto kQueryHcaVportGid = static_cast<Command>(0x764);

// clang-format off
inline constexpr CommandSpec kCommands[] = {
    {Command::kQueryHcaCap,  Role::kGeneral, 0x10,  0x1010, "QUERY_HCA_CAP", query_hca_cap, table::kQueryHcaCap},
    {Command::kCreateCq,     Role::kCreate,  0x110, 0x10,   "CREATE_CQ",     create_cq,     table::kCreateCq},
    {Command::kDestroyCq,    Role::kDestroy, 0x10,  0x10,   "DESTROY_CQ",    destroy_cq,    table::kNumbered},
    {Command::kQueryCq,      Role::kQuery,   0x10,  0x110,  "QUERY_CQ",      query_cq,      table::kNumbered},
    {Command::kCreateQp,     Role::kCreate,  0x110, 0x10,   "CREATE_QP",     create_qp,     table::kCreateQp},
    {Command::kDestroyQp,    Role::kDestroy, 0x10,  0x10,   "DESTROY_QP",    destroy_qp,    table::kNumbered},
    {Command::kQueryQp,      Role::kQuery,   0x10,  0x110,  "QUERY_QP",      query_qp,      table::kNumbered},
    {Command::kRst2Init,     Role::kModify,  0x110, 0x10,   "RST2INIT_QP",   rst2init,      table::kModifyQp},
    {Command::kInit2Init,    Role::kModify,  0x110, 0x10,   "INIT2INIT_QP",  init2init,     table::kModifyQp},
    {Command::kInit2Rtr,     Role::kModify,  0x110, 0x10,   "INIT2RTR_QP",   init2rtr,      table::kModifyQp},
    {Command::kRtr2Rts,      Role::kModify,  0x110, 0x10,   "RTR2RTS_QP",    rtr2rts,       table::kModifyQp},
    {Command::kRts2Rts,      Role::kModify,  0x110, 0x10,   "RTS2RTS_QP",    rts2rts,       table::kModifyQp},
    {Command::kQp2Err,       Role::kModify,  0x10,  0x10,   "2ERR_QP",       qp_2err,       table::kNumbered},
    {Command::kQp2Rst,       Role::kModify,  0x10,  0x10,   "2RST_QP",       qp_2rst,       table::kNumbered},
    {Command::kCreateDct,    Role::kCreate,  0x80,  0x10,   "CREATE_DCT",    create_dct,    table::kCreateDct},
    {Command::kDrainDct,     Role::kDestroy, 0x10,  0x10,   "DRAIN_DCT",     drain_dct,     table::kNumbered},
    {Command::kDestroyDct,   Role::kDestroy, 0x10,  0x10,   "DESTROY_DCT",   destroy_dct,   table::kNumbered},
    {Command::kQueryDct,     Role::kQuery,   0x10,  0x80,   "QUERY_DCT",     query_dct,     table::kNumbered},
    {kQueryHcaVportContext,  Role::kGeneral, 0x10,  0x210,  "QUERY_HCA_VPORT_CONTEXT", query_hca_vport_context,
     table::kQueryVport},
    {kQueryHcaVportGid,      Role::kGeneral, 0x10,  0x20,   "QUERY_HCA_VPORT_GID", query_hca_vport_gid,
     table::kQueryVportGid},
    {kQueryRoceAddress,      Role::kGeneral, 0x10,  0x30,   "QUERY_ROCE_ADDRESS", query_roce_address,
     table::kQueryRoceAddress},
};
// clang-format on

}  // namespace marrow::cx7::fw
