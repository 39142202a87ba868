// SPDX-License-Identifier: Apache-2.0
// The firmware's commands. What is not a row here is answered with BAD_OPCODE.
#pragma once

#include "cx7/fw/command.h"
#include "cx7/fw/mailbox_table.h"

namespace marrow::cx7::fw {

/// Opcodes that only the software NIC knows; the others are wire::prm::Command's.
inline constexpr auto kQueryVportState = static_cast<Command>(0x750);
inline constexpr auto kQueryNicVportContext = static_cast<Command>(0x754);
inline constexpr auto kQueryRoceAddress = static_cast<Command>(0x760);
inline constexpr auto kQueryHcaVportContext = static_cast<Command>(0x762);
inline constexpr auto kQueryHcaVportGid = static_cast<Command>(0x764);
inline constexpr auto kQueryLag = static_cast<Command>(0x842);
inline constexpr auto kDestroyRmp = static_cast<Command>(0x90e);
inline constexpr auto kQueryRmp = static_cast<Command>(0x90f);

// clang-format off
inline constexpr CommandSpec kCommands[] = {
    {Command::kQueryHcaCap,   Role::kGeneral, Subject::kNone, 0x10,  0x1010, "QUERY_HCA_CAP",
     query_hca_cap, table::kQueryHcaCap},
    {Command::kCreateCq,      Role::kCreate,  Subject::kCq,   0x110, 0x10,   "CREATE_CQ", create_cq, table::kCreateCq},
    {Command::kDestroyCq,     Role::kDestroy, Subject::kCq,   0x10,  0x10,   "DESTROY_CQ",
     destroy_cq, table::kNumbered},
    {Command::kQueryCq,       Role::kQuery,   Subject::kCq,   0x10,  0x110,  "QUERY_CQ", query_cq, table::kNumbered},
    {Command::kCreateQp,      Role::kCreate,  Subject::kQp,   0x110, 0x10,   "CREATE_QP", create_qp, table::kCreateQp},
    {Command::kDestroyQp,     Role::kDestroy, Subject::kQp,   0x10,  0x10,   "DESTROY_QP",
     destroy_qp, table::kNumbered},
    {Command::kQueryQp,       Role::kQuery,   Subject::kQp,   0x10,  0x110,  "QUERY_QP", query_qp, table::kNumbered},
    {Command::kRst2Init,      Role::kModify,  Subject::kQp,   0x110, 0x10,   "RST2INIT_QP", rst2init, table::kModifyQp},
    {Command::kInit2Init,     Role::kModify,  Subject::kQp,   0x110, 0x10,   "INIT2INIT_QP",
     init2init, table::kModifyQp},
    {Command::kInit2Rtr,      Role::kModify,  Subject::kQp,   0x110, 0x10,   "INIT2RTR_QP", init2rtr, table::kModifyQp},
    {Command::kRtr2Rts,       Role::kModify,  Subject::kQp,   0x110, 0x10,   "RTR2RTS_QP", rtr2rts, table::kModifyQp},
    {Command::kRts2Rts,       Role::kModify,  Subject::kQp,   0x110, 0x10,   "RTS2RTS_QP", rts2rts, table::kModifyQp},
    {Command::kQp2Err,        Role::kModify,  Subject::kQp,   0x10,  0x10,   "2ERR_QP", qp_2err, table::kNumbered},
    {Command::kQp2Rst,        Role::kModify,  Subject::kQp,   0x10,  0x10,   "2RST_QP", qp_2rst, table::kNumbered},
    {Command::kCreateMkey,    Role::kCreate,  Subject::kMkey, 0x110, 0x10,   "CREATE_MKEY",
     create_mkey, table::kCreateMkey, mkey_list_bytes},
    {Command::kDestroyMkey,   Role::kDestroy, Subject::kMkey, 0x10,  0x10,   "DESTROY_MKEY",
     destroy_mkey, table::kNumbered},
    {Command::kQueryMkey,     Role::kQuery,   Subject::kMkey, 0x10,  0x110,  "QUERY_MKEY",
     query_mkey, table::kNumbered},
    {Command::kCreateDct,     Role::kCreate,  Subject::kDct,  0x80,  0x10,   "CREATE_DCT",
     create_dct, table::kCreateDct},
    {Command::kDrainDct,      Role::kDrain,   Subject::kDct,  0x10,  0x10,   "DRAIN_DCT", drain_dct, table::kNumbered},
    {Command::kDestroyDct,    Role::kDestroy, Subject::kDct,  0x10,  0x10,   "DESTROY_DCT",
     destroy_dct, table::kNumbered},
    {Command::kQueryDct,      Role::kQuery,   Subject::kDct,  0x10,  0x80,   "QUERY_DCT", query_dct, table::kNumbered},
    {kCreateRmp,              Role::kCreate,  Subject::kRmp,  0x110, 0x10,   "CREATE_RMP", create_rmp, table::kCreateRmp},
    {kDestroyRmp,             Role::kDestroy, Subject::kRmp,  0x10,  0x10,   "DESTROY_RMP", destroy_rmp, table::kNumbered},
    {kQueryRmp,               Role::kQuery,   Subject::kRmp,  0x10,  0x110,  "QUERY_RMP", query_rmp, table::kNumbered},
    {kQueryVportState,        Role::kGeneral, Subject::kNone, 0x10,  0x10,   "QUERY_VPORT_STATE",
     query_vport_state, table::kQueryNicVport},
    {kQueryNicVportContext,   Role::kGeneral, Subject::kNone, 0x10,  0x110,  "QUERY_NIC_VPORT_CONTEXT",
     query_nic_vport_context, table::kQueryNicVport},
    {kQueryLag,               Role::kGeneral, Subject::kNone, 0x10,  0x10,   "QUERY_LAG", query_lag, table::kQueryLag},
    {kQueryHcaVportContext,   Role::kGeneral, Subject::kNone, 0x10,  0x210,  "QUERY_HCA_VPORT_CONTEXT",
     query_hca_vport_context, table::kQueryVport},
    {kQueryHcaVportGid,       Role::kGeneral, Subject::kNone, 0x10,  0x20,   "QUERY_HCA_VPORT_GID",
     query_hca_vport_gid, table::kQueryVportGid},
    {kQueryRoceAddress,       Role::kGeneral, Subject::kNone, 0x10,  0x30,   "QUERY_ROCE_ADDRESS",
     query_roce_address, table::kQueryRoceAddress},
};
// clang-format on

}  // namespace marrow::cx7::fw
