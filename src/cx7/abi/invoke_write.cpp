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

}  // namespace

void invoke_write(Context& context, Request& request) {
  const auto command = request.number32(UVERBS_ATTR_WRITE_CMD);
  const auto* const spec = find_write(command);
  if (spec == nullptr) {
    util::log::once(fmt::format("abi.write.{:#x}", command), "uverbs: write command {:#x} is not modelled", command);
    refuse(EOPNOTSUPP);
  }
  require(request.bytes_of(UVERBS_ATTR_CORE_IN) >= spec->in_bytes, ENOSPC);
  require(request.bytes_of(UVERBS_ATTR_CORE_OUT) >= spec->out_bytes, ENOSPC);
  require(context.open, EINVAL);
  spec->run(context, request);
}

}  // namespace marrow::cx7::abi
