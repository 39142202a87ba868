// SPDX-License-Identifier: Apache-2.0
// The firmware's commands. What is not a row here is answered with BAD_OPCODE.
#pragma once

#include "cx7/fw/command.h"
#include "cx7/fw/mailbox_table.h"

namespace marrow::cx7::fw {

// clang-format off
inline constexpr CommandSpec kCommands[] = {
    {Command::kQueryHcaCap, "QUERY_HCA_CAP", Role::kGeneral, 0x10,  0x1010, query_hca_cap, table::kQueryHcaCap},
    {Command::kCreateCq,    "CREATE_CQ",     Role::kCreate,  0x110, 0x10,   create_cq,     table::kCreateCq},
    {Command::kDestroyCq,   "DESTROY_CQ",    Role::kDestroy, 0x10,  0x10,   destroy_cq,    table::kNumbered},
    {Command::kQueryCq,     "QUERY_CQ",      Role::kQuery,   0x10,  0x110,  query_cq,      table::kNumbered},
    {Command::kCreateQp,    "CREATE_QP",     Role::kCreate,  0x110, 0x10,   create_qp,     table::kCreateQp},
    {Command::kDestroyQp,   "DESTROY_QP",    Role::kDestroy, 0x10,  0x10,   destroy_qp,    table::kNumbered},
    {Command::kQueryQp,     "QUERY_QP",      Role::kQuery,   0x10,  0x110,  query_qp,      table::kNumbered},
    {Command::kRst2Init,    "RST2INIT_QP",   Role::kModify,  0x110, 0x10,   rst2init,      table::kModifyQp},
    {Command::kInit2Init,   "INIT2INIT_QP",  Role::kModify,  0x110, 0x10,   init2init,     table::kModifyQp},
    {Command::kInit2Rtr,    "INIT2RTR_QP",   Role::kModify,  0x110, 0x10,   init2rtr,      table::kModifyQp},
    {Command::kRtr2Rts,     "RTR2RTS_QP",    Role::kModify,  0x110, 0x10,   rtr2rts,       table::kModifyQp},
    {Command::kRts2Rts,     "RTS2RTS_QP",    Role::kModify,  0x110, 0x10,   rts2rts,       table::kModifyQp},
    {Command::kQp2Err,      "2ERR_QP",       Role::kModify,  0x10,  0x10,   qp_2err,       table::kNumbered},
    {Command::kQp2Rst,      "2RST_QP",       Role::kModify,  0x10,  0x10,   qp_2rst,       table::kNumbered},
};
// clang-format on

}  // namespace marrow::cx7::fw
