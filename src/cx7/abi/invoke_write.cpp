// SPDX-License-Identifier: Apache-2.0
// INVOKE_WRITE: the older commands, each with a number of its own, carried by one ioctl method.
// Facts: ENOSPC for a core part that is too short, which libibverbs uses as a probe [abi]. A command that is not
// modelled gets EOPNOTSUPP; EPROTONOSUPPORT would send libibverbs to write(2) for good.
#include <algorithm>

#include "cx7/abi/schema_table.h"
#include "util/log.h"

namespace marrow::cx7::abi {
namespace {

const WriteSpec* find_write(std::uint32_t command) {
  const auto* const at = std::find_if(std::begin(table::kWrites), std::end(table::kWrites),
                                      [command](const WriteSpec& spec) { return spec.command == command; });
  return at == std::end(table::kWrites) ? nullptr : at;
}

// The kernel's names by number, for the log. [abi: enum ib_uverbs_write_cmds]
constexpr std::string_view kNames[] = {
    "GET_CONTEXT",   "QUERY_DEVICE", "QUERY_PORT", "ALLOC_PD",    "DEALLOC_PD", "CREATE_AH",
    "MODIFY_AH",     "QUERY_AH",     "DESTROY_AH", "REG_MR",      "REG_SMR",    "REREG_MR",
    "QUERY_MR",      "DEREG_MR",     "ALLOC_MW",   "BIND_MW",     "DEALLOC_MW", "CREATE_COMP_CHANNEL",
    "CREATE_CQ",     "RESIZE_CQ",    "DESTROY_CQ", "POLL_CQ",     "PEEK_CQ",    "REQ_NOTIFY_CQ",
    "CREATE_QP",     "QUERY_QP",     "MODIFY_QP",  "DESTROY_QP",  "POST_SEND",  "POST_RECV",
    "ATTACH_MCAST",  "DETACH_MCAST", "CREATE_SRQ", "MODIFY_SRQ",  "QUERY_SRQ",  "DESTROY_SRQ",
    "POST_SRQ_RECV", "OPEN_XRCD",    "CLOSE_XRCD", "CREATE_XSRQ", "OPEN_QP"};
static_assert(std::size(kNames) == IB_USER_VERBS_CMD_OPEN_QP + 1);

std::string_view name_of(std::uint32_t command) {
  const auto number = command & ~IB_USER_VERBS_CMD_FLAG_EXTENDED;
  return number < std::size(kNames) ? kNames[number] : "unknown";
}

}  // namespace

void invoke_write(Context& context, Request& request) {
  const auto command = request.number32(UVERBS_ATTR_WRITE_CMD);
  const auto* const spec = find_write(command);
  if (spec == nullptr) {
    util::log::once(fmt::format("abi.write.{:#x}", command), "uverbs: write command {:#x} ({}) is not modelled",
                    command, name_of(command));
    refuse(EOPNOTSUPP);
  }
  require(request.bytes_of(UVERBS_ATTR_CORE_IN) >= spec->in_bytes, ENOSPC);
  require(request.bytes_of(UVERBS_ATTR_CORE_OUT) >= spec->out_bytes, ENOSPC);
  require(context.open, EINVAL);
  spec->run(context, request);
}

}  // namespace marrow::cx7::abi
