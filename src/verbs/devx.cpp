// SPDX-License-Identifier: Apache-2.0
// See devx.h.
#include "verbs/devx.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>

#include "util/error.h"
#include "util/log.h"

namespace marrow::verbs {
namespace {

using prm::Command;
using prm::CommandStatus;

template <class Key>
struct Name {
  Key key;
  const char* text;
};

constexpr std::array kCommandNames{
    Name{Command::kQueryHcaCap, "QUERY_HCA_CAP"},
    Name{Command::kCreateCq, "CREATE_CQ"},
    Name{Command::kDestroyCq, "DESTROY_CQ"},
    Name{Command::kQueryCq, "QUERY_CQ"},
    Name{Command::kCreateQp, "CREATE_QP"},
    Name{Command::kDestroyQp, "DESTROY_QP"},
    Name{Command::kRst2Init, "RST2INIT_QP"},
    Name{Command::kInit2Rtr, "INIT2RTR_QP"},
    Name{Command::kRtr2Rts, "RTR2RTS_QP"},
    Name{Command::kQp2Err, "2ERR_QP"},
    Name{Command::kQp2Rst, "2RST_QP"},
    Name{Command::kQueryQp, "QUERY_QP"},
    Name{Command::kCreateDct, "CREATE_DCT"},
    Name{Command::kDestroyDct, "DESTROY_DCT"},
    Name{Command::kQueryDct, "QUERY_DCT"},
};

constexpr std::array kStatusNames{
    Name{CommandStatus::kInternalError, "internal error"},
    Name{CommandStatus::kBadOpcode, "bad operation code"},
    Name{CommandStatus::kBadParameter, "bad parameter"},
    Name{CommandStatus::kBadSystemState, "bad system state"},
    Name{CommandStatus::kBadResource, "bad resource"},
    Name{CommandStatus::kResourceBusy, "resource busy"},
    Name{CommandStatus::kExceedLimit, "limit exceeded"},
    Name{CommandStatus::kBadResourceState, "bad resource state"},
    Name{CommandStatus::kBadIndex, "bad index"},
    Name{CommandStatus::kNoResources, "no resources"},
    Name{CommandStatus::kBadInputLength, "bad input length"},
    Name{CommandStatus::kBadOutputLength, "bad output length"},
    Name{CommandStatus::kBadQpState, "bad QP state"},
    Name{CommandStatus::kBadSize, "bad size"},
};

template <class Key, std::size_t kCount>
const char* find_name(const std::array<Name<Key>, kCount>& names, Key key) {
  for (const auto& name : names) {
    if (name.key == key) return name.text;
  }
  return nullptr;
}

[[noreturn]] void refuse(In in, Out out, int error_number) {
  const auto command = static_cast<Command>(prm::get(in.data(), prm::in::opcode));
  const auto status = static_cast<std::uint8_t>(prm::get(out.data(), prm::out::status));
  if (status == 0) throw util::system_error(command_name(command), error_number);
  throw util::Error(fmt::format("{} refused: {} (status {:#04x}), syndrome {:#010x}", command_name(command),
                                status_name(status), status, prm::get(out.data(), prm::out::syndrome)));
}

}  // namespace

void general_command(ibv_context* context, In in, Out out) {
  const int error = mlx5dv_devx_general_cmd(context, in.data(), in.size(), out.data(), out.size());
  if (error != 0) refuse(in, out, error > 0 ? error : errno);
}

DevxHandle create_object(ibv_context* context, In in, Out out) {
  DevxHandle object(mlx5dv_devx_obj_create(context, in.data(), in.size(), out.data(), out.size()));
  if (!object) refuse(in, out, errno);
  return object;
}

void modify_object(mlx5dv_devx_obj* object, In in, Out out) {
  const int error = mlx5dv_devx_obj_modify(object, in.data(), in.size(), out.data(), out.size());
  if (error != 0) refuse(in, out, error > 0 ? error : errno);
}

void query_object(mlx5dv_devx_obj* object, In in, Out out) {
  const int error = mlx5dv_devx_obj_query(object, in.data(), in.size(), out.data(), out.size());
  if (error != 0) refuse(in, out, error > 0 ? error : errno);
}

std::string command_name(Command command) {
  const char* const name = find_name(kCommandNames, command);
  return name != nullptr ? name : fmt::format("command {:#x}", static_cast<unsigned>(command));
}

std::string status_name(std::uint8_t status) {
  const char* const name = find_name(kStatusNames, static_cast<CommandStatus>(status));
  return name != nullptr ? name : "unknown status";
}

const char* state_name(prm::QpState state) {
  using prm::QpState;
  constexpr std::array kNames{
      Name{QpState::kReset, "RST"}, Name{QpState::kInit, "INIT"}, Name{QpState::kRtr, "RTR"},
      Name{QpState::kRts, "RTS"},   Name{QpState::kSqer, "SQER"}, Name{QpState::kSqd, "SQD"},
      Name{QpState::kError, "ERR"},
  };
  const char* const name = find_name(kNames, state);
  return name != nullptr ? name : "unknown";
}

void report_failed_destroy(const char* what, int result) {
  if (result == 0) return;
  const int number = result > 0 ? result : errno;
  util::log::warn("{}", util::system_error(fmt::format("a {} could not be destroyed", what), number).what());
}

}  // namespace marrow::verbs
