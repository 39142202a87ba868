// SPDX-License-Identifier: Apache-2.0
// A firmware command: mailbox in, mailbox out. execute() finds the command in command_table.h, checks lengths and
// reserved bits, and runs its handler, which lives in the file of the object it is about.
// Facts: status byte and syndrome of a reply [prm]; the syndromes' values are ours [guess], their text is in the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cx7/fw/client.h"
#include "marrow/wire/prm.h"

namespace marrow::cx7::fw {

using wire::prm::Command;
using wire::prm::CommandStatus;

/// What a handler answers. `reason` is a sentence fragment with static life; it also makes the syndrome.
struct Reply {
  CommandStatus status = CommandStatus::kOk;
  std::string_view reason;
  [[nodiscard]] bool ok() const { return status == CommandStatus::kOk; }
};

inline Reply refuse(CommandStatus status, std::string_view reason) {
  return {status, reason};
}

/// The reply's syndrome for a reason: FNV-1a, so that a reason keeps its number whatever is added beside it.
constexpr std::uint32_t syndrome_of(std::string_view reason) {
  std::uint32_t hash = 2166136261u;
  for (const char c : reason) hash = (hash ^ static_cast<std::uint8_t>(c)) * 16777619u;
  return hash;
}

/// Which of the kernel's DEVX calls may carry the command.
enum class Role : std::uint8_t { kGeneral, kCreate, kModify, kQuery, kDestroy, kDrain };

/// Which kind of object a command is about.
enum class Subject : std::uint8_t { kNone, kCq, kQp, kDct, kMkey, kRmp };

/// A stretch of a mailbox and the fields known in it.
struct Section;

struct CommandSpec {
  Command opcode{};
  Role role{};
  Subject subject{};
  std::uint16_t in_bytes = 0;
  std::uint16_t out_bytes = 0;
  std::string_view name;
  Reply (*handler)(Client&, const std::byte* in, std::byte* out) = nullptr;
  std::span<const Section> sections;
  /// Bytes of a list that follows, as the mailbox itself has it; null: none can follow.
  std::size_t (*list_bytes)(const std::byte* in) = nullptr;
};

/// Null for a command that is not modelled.
[[nodiscard]] const CommandSpec* find_command(std::uint32_t opcode);
/// The one that does `role` to a kind of object; null when there is none.
[[nodiscard]] const CommandSpec* find_command(Subject subject, Role role);

[[nodiscard]] inline std::uint32_t opcode_of(std::span<const std::byte> in) {
  return in.size() < 8 ? 0 : wire::prm::get(in.data(), wire::prm::in::opcode);
}

/// Runs one command. Status and syndrome also stand in `out` (when it has room for them); the rest of `out` is zero
/// unless the command succeeded. A reply longer than `out` is cut off, down to 16 bytes. Refusals are logged once each,
/// with name and reason.
Reply execute(Client& client, std::span<const std::byte> in, std::span<std::byte> out);

// Handlers, one file an object.
Reply query_hca_cap(Client&, const std::byte* in, std::byte* out);  // caps.cpp
Reply create_cq(Client&, const std::byte* in, std::byte* out);      // cq.cpp
Reply destroy_cq(Client&, const std::byte* in, std::byte* out);
Reply query_cq(Client&, const std::byte* in, std::byte* out);
Reply create_qp(Client&, const std::byte* in, std::byte* out);  // qp.cpp
Reply destroy_qp(Client&, const std::byte* in, std::byte* out);
Reply query_qp(Client&, const std::byte* in, std::byte* out);
Reply create_dct(Client&, const std::byte* in, std::byte* out);  // dct.cpp
Reply drain_dct(Client&, const std::byte* in, std::byte* out);
Reply destroy_dct(Client&, const std::byte* in, std::byte* out);
Reply query_dct(Client&, const std::byte* in, std::byte* out);
Reply create_mkey(Client&, const std::byte* in, std::byte* out);  // mkey.cpp
Reply destroy_mkey(Client&, const std::byte* in, std::byte* out);
Reply query_mkey(Client&, const std::byte* in, std::byte* out);
/// Of the entries that a CREATE_MKEY brings along.
std::size_t mkey_list_bytes(const std::byte* in);
Reply create_rmp(Client&, const std::byte* in, std::byte* out);  // rmp.cpp
Reply destroy_rmp(Client&, const std::byte* in, std::byte* out);
Reply query_rmp(Client&, const std::byte* in, std::byte* out);
Reply rst2init(Client&, const std::byte* in, std::byte* out);  // qp_transition.cpp
Reply init2init(Client&, const std::byte* in, std::byte* out);
Reply init2rtr(Client&, const std::byte* in, std::byte* out);
Reply rtr2rts(Client&, const std::byte* in, std::byte* out);
Reply rts2rts(Client&, const std::byte* in, std::byte* out);
Reply qp_2err(Client&, const std::byte* in, std::byte* out);
Reply qp_2rst(Client&, const std::byte* in, std::byte* out);

Reply query_hca_vport_context(Client&, const std::byte* in, std::byte* out);  // vport.cpp
Reply query_hca_vport_gid(Client&, const std::byte* in, std::byte* out);
Reply query_roce_address(Client&, const std::byte* in, std::byte* out);
Reply query_vport_state(Client&, const std::byte* in, std::byte* out);
Reply query_nic_vport_context(Client&, const std::byte* in, std::byte* out);
Reply query_lag(Client&, const std::byte* in, std::byte* out);

/// Where the address vectors of DCIs and datagrams lead, on the link layer in force (routing.cpp).
[[nodiscard]] Routing routing();

}  // namespace marrow::cx7::fw
