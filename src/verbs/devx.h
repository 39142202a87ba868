// SPDX-License-Identifier: Apache-2.0
// Firmware commands through DEVX: the call, and a refusal said in words.
// Facts: a refused command comes back with EREMOTEIO and its reply: status and syndrome [dv].
#pragma once

#include <infiniband/mlx5dv.h>

#include <cstddef>
#include <span>
#include <string>

#include "verbs/handle.h"
#include "verbs/mailbox.h"

namespace marrow::verbs {

using In = std::span<const std::byte>;
using Out = std::span<std::byte>;

/// All throw util::Error: "CREATE_QP refused: bad parameter (status 0x03), syndrome 0x00123456".
void general_command(ibv_context* context, In in, Out out);
[[nodiscard]] DevxHandle create_object(ibv_context* context, In in, Out out);
void modify_object(mlx5dv_devx_obj* object, In in, Out out);
void query_object(mlx5dv_devx_obj* object, In in, Out out);

/// The command's name in the manual, or its number.
[[nodiscard]] std::string command_name(prm::Command command);
[[nodiscard]] std::string status_name(std::uint8_t status);
[[nodiscard]] const char* state_name(prm::QpState state);

}  // namespace marrow::verbs
