// SPDX-License-Identifier: Apache-2.0
// The ioctl's way in: header, method, attributes, command.
// Facts: what is checked in which order and with which errno [abi, as the kernel's ib_uverbs_ioctl does].
#include "cx7/abi/file.h"

#include <algorithm>
#include <exception>
#include <new>

#include "cx7/abi/schema_table.h"
#include "cx7/hca/memory.h"
#include "util/log.h"

namespace marrow::cx7 {

struct File::State {
  State(Engine& the_engine, std::uint8_t device, DevicePages& pages)
      : engine(the_engine), context(the_engine, device, pages) {}
  Engine& engine;
  abi::Context context;
};

namespace {

using abi::require;

constexpr std::size_t kMaxHeaderBytes = 4096;

constexpr std::string_view kObjectNames[] = {
    "device", "PD",          "completion channel", "CQ",       "QP",         "SRQ",
    "AH",     "MR",          "memory window",      "flow",     "XRC domain", "RWQ indirection table",
    "WQ",     "flow action", "device memory",      "counters", "async event"};
constexpr std::string_view kMlx5ObjectNames[] = {
    "DEVX", "DEVX object",   "DEVX umem", "flow matcher",   "DEVX async command", "DEVX async event",
    "VAR",  "packet pacing", "UAR",       "steering anchor"};

std::string_view object_name(std::uint16_t object) {
  if (object < std::size(kObjectNames)) return kObjectNames[object];
  const auto own = static_cast<std::size_t>(object - UVERBS_UDATA_DRIVER_DATA_FLAG);
  return object >= UVERBS_UDATA_DRIVER_DATA_FLAG && own < std::size(kMlx5ObjectNames) ? kMlx5ObjectNames[own]
                                                                                      : "unknown";
}

ib_uverbs_ioctl_hdr fetch_header(const ib_uverbs_ioctl_hdr* from) {
  ib_uverbs_ioctl_hdr header{};
  require(dma::copy(&header, from, sizeof header), EFAULT);
  const auto attr_bytes = std::size_t{header.num_attrs} * sizeof(ib_uverbs_attr);
  require(header.length <= kMaxHeaderBytes && header.length == sizeof header + attr_bytes, EINVAL);
  require(header.reserved1 == 0 && header.reserved2 == 0, EPROTONOSUPPORT);
  require(header.driver_id == RDMA_DRIVER_MLX5, EINVAL);
  return header;
}

const abi::MethodSpec& find_method(const ib_uverbs_ioctl_hdr& header) {
  const auto* const at = std::find_if(
      std::begin(abi::table::kMethods), std::end(abi::table::kMethods),
      [&](const auto& spec) { return spec.object == header.object_id && spec.method == header.method_id; });
  if (at == std::end(abi::table::kMethods)) {
    util::log::once(fmt::format("abi.method.{:#x}.{:#x}", header.object_id, header.method_id),
                    "uverbs: method {:#x} of object {:#x} ({}) is not modelled", header.method_id, header.object_id,
                    object_name(header.object_id));
    abi::refuse(EPROTONOSUPPORT);
  }
  return *at;
}

// The two methods that come before there is a context: its making, and the probe for write commands.
bool works_without_context(const abi::MethodSpec& method) {
  return method.run == abi::get_context || method.run == abi::invoke_write;
}

void run(abi::Context& context, ib_uverbs_ioctl_hdr* user) {
  const auto header = fetch_header(user);
  const auto& method = find_method(header);
  abi::Request request(method, user->attrs, header.num_attrs);
  require(context.open || works_without_context(method), EINVAL);
  for (const auto& spec : method.attrs) {
    if (spec.type == abi::AttrType::kHandle && request.has(spec.id)) {
      static_cast<void>(context.find(request.handle(spec.id), spec.object));
    }
  }
  method.run(context, request);
}

}  // namespace

File::File(Engine& engine, std::uint8_t device, DevicePages& pages)
    : device_(device), state_(std::make_unique<State>(engine, device, pages)) {
  dma::install_fault_handler();
}

File::~File() {
  const Engine::Lock lock(state_->engine);
  state_->context.close();
}

int File::ioctl(ib_uverbs_ioctl_hdr* header) try {
  const Engine::Lock lock(state_->engine);
  run(state_->context, header);
  return 0;
} catch (const abi::Errno& error) {
  return -error.value;
} catch (const std::bad_alloc&) {
  return -ENOMEM;
} catch (const std::exception& error) {
  util::log::error("uverbs: {}", error.what());
  return -EIO;
}

}  // namespace marrow::cx7
