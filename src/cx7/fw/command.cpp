// SPDX-License-Identifier: Apache-2.0
// Finds, checks and runs a firmware command.
#include "cx7/fw/command.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cx7/fw/command_table.h"
#include "util/log.h"

namespace marrow::cx7::fw {
namespace {

namespace prm = wire::prm;

constexpr std::size_t kWords = 0x110 / 4;  // the longest mailbox in
constexpr std::size_t kShortestReply = 0x10;

constexpr std::uint32_t bits(prm::Field field) {
  return field.mask() << field.low;
}

Reply check_unmodelled(const CommandSpec& command, const std::byte* in) {
  for (const auto& section : command.sections) {
    for (const auto& rule : section.fields) {
      if (rule.rule != Rule::kMustBeZero || prm::get(in + section.offset, rule.field) == 0) continue;
      util::log::once(std::string("fw.field.") + std::string(rule.name),
                      "firmware: {}: field {} is not modelled, must be 0", command.name, rule.name);
      return refuse(CommandStatus::kBadParameter, "field not modelled");
    }
  }
  return {};
}

Reply check_reserved(const CommandSpec& command, const std::byte* in) {
  std::array<std::uint32_t, kWords> known{};
  for (const auto& section : command.sections) {
    for (const auto& rule : section.fields) known[(section.offset + rule.field.dword) / 4] |= bits(rule.field);
  }
  for (std::uint16_t at = 0; at < command.in_bytes; at = static_cast<std::uint16_t>(at + 4)) {
    const auto reserved = prm::get(in, prm::Field{at, 31, 0}) & ~known[at / 4];
    if (reserved == 0) continue;
    util::log::once(fmt::format("fw.reserved.{}.{}", command.name, at),
                    "firmware: {}: reserved bits {:#010x} set at {:#x}", command.name, reserved, at);
    return refuse(CommandStatus::kBadParameter, "reserved bits set");
  }
  return {};
}

// A longer mailbox is fine as long as it says nothing: callers may leave room for page lists.
Reply check_lengths(const CommandSpec& command, std::span<const std::byte> in, std::span<std::byte> out) {
  if (in.size() < command.in_bytes) return refuse(CommandStatus::kBadInputLength, "input mailbox too short");
  const auto list_bytes = command.list_bytes == nullptr ? 0 : command.list_bytes(in.data());
  if (in.size() - command.in_bytes < list_bytes)
    return refuse(CommandStatus::kBadInputLength, "input mailbox too short");
  const auto beyond = in.subspan(command.in_bytes + list_bytes);
  if (std::any_of(beyond.begin(), beyond.end(), [](std::byte b) { return b != std::byte{0}; })) {
    return refuse(CommandStatus::kBadInputLength, "input mailbox too long");
  }
  if (out.size() < kShortestReply) return refuse(CommandStatus::kBadOutputLength, "output mailbox too short");
  return {};
}

// A caller with little room gets the front of the reply: rdma-core's own tests ask for capabilities that way.
Reply run(Client& client, const CommandSpec* command, std::span<const std::byte> in, std::span<std::byte> out) {
  if (command == nullptr) return refuse(CommandStatus::kBadOpcode, "command not modelled");
  if (const auto reply = check_lengths(*command, in, out); !reply.ok()) return reply;
  if (const auto reply = check_reserved(*command, in.data()); !reply.ok()) return reply;
  if (const auto reply = check_unmodelled(*command, in.data()); !reply.ok()) return reply;
  if (out.size() >= command->out_bytes) return command->handler(client, in.data(), out.data());
  std::vector<std::byte> whole(command->out_bytes);
  const auto reply = command->handler(client, in.data(), whole.data());
  std::copy_n(whole.begin(), out.size(), out.begin());
  return reply;
}

}  // namespace

const CommandSpec* find_command(std::uint32_t opcode) {
  const auto* const at = std::find_if(std::begin(kCommands), std::end(kCommands), [opcode](const CommandSpec& command) {
    return static_cast<std::uint32_t>(command.opcode) == opcode;
  });
  return at == std::end(kCommands) ? nullptr : at;
}

const CommandSpec* find_command(Subject subject, Role role) {
  const auto* const at = std::find_if(std::begin(kCommands), std::end(kCommands), [=](const CommandSpec& command) {
    return command.subject == subject && command.role == role;
  });
  return at == std::end(kCommands) ? nullptr : at;
}

Reply execute(Client& client, std::span<const std::byte> in, std::span<std::byte> out) {
  std::fill(out.begin(), out.end(), std::byte{0});
  const auto* const command = find_command(opcode_of(in));
  const auto reply = run(client, command, in, out);
  if (reply.ok()) return reply;
  const auto name = command == nullptr ? fmt::format("opcode {:#x}", opcode_of(in)) : std::string(command->name);
  util::log::once(fmt::format("fw.{}.{}", name, reply.reason), "firmware: {}: status {:#04x} syndrome {:#010x}: {}",
                  name, static_cast<unsigned>(reply.status), syndrome_of(reply.reason), reply.reason);
  std::fill(out.begin(), out.end(), std::byte{0});
  if (out.size() >= 8) {
    prm::set(out.data(), prm::out::status, static_cast<std::uint32_t>(reply.status));
    prm::set(out.data(), prm::out::syndrome, syndrome_of(reply.reason));
  }
  return reply;
}

}  // namespace marrow::cx7::fw
