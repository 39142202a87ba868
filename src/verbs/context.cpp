// SPDX-License-Identifier: Apache-2.0
// See context.h.
#include "verbs/context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "util/error.h"

namespace marrow::verbs {
namespace {

struct FreeList {
  void operator()(ibv_device** list) const noexcept { ibv_free_device_list(list); }
};
struct DeviceList {
  int count = 0;
  std::unique_ptr<ibv_device*, FreeList> list{ibv_get_device_list(&count)};

  [[nodiscard]] ibv_device* find(const std::string& name) const {
    for (int i = 0; list && i < count; ++i) {
      if (name == ibv_get_device_name(list.get()[i])) return list.get()[i];
    }
    return nullptr;
  }
};

ContextHandle open_device(const std::string& name) {
  const DeviceList devices;
  ibv_device* const device = devices.find(name);
  if (device == nullptr) {
    const auto names = Context::device_names();
    const auto there = names.empty() ? std::string("no RDMA device at all") : fmt::format("{}", fmt::join(names, ", "));
    throw util::Error(fmt::format("no device named '{}': there is {}", name, there), util::ErrorKind::kUsage,
                      names.empty() ? "--nic cx7-sim" : "--nic " + names.front());
  }
  if (!mlx5dv_is_supported(device)) {
    throw util::Error(fmt::format("{} is not an mlx5 device, and our queues are its WQEs", name));
  }
  mlx5dv_context_attr attributes{};
  attributes.flags = MLX5DV_CONTEXT_FLAGS_DEVX;
  ContextHandle context(mlx5dv_open_device(device, &attributes));
  if (!context) throw util::system_error(fmt::format("open {} with DEVX", name), errno);
  return context;
}

/// The first RoCE v2 entry that can be routed, else the first RoCE v2 entry: link-local ones work between neighbours.
std::optional<std::uint8_t> find_roce_gid(ibv_context* context, std::uint8_t port, int entries) {
  std::optional<std::uint8_t> link_local;
  for (int i = 0; i < std::min(entries, 256); ++i) {
    ibv_gid_entry entry{};
    if (ibv_query_gid_ex(context, port, static_cast<std::uint32_t>(i), &entry, 0) != 0) continue;
    if (entry.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
    const bool is_link_local = entry.gid.raw[0] == 0xfe && (entry.gid.raw[1] & 0xc0) == 0x80;
    if (!is_link_local) return static_cast<std::uint8_t>(i);
    if (!link_local) link_local = static_cast<std::uint8_t>(i);
  }
  return link_local;
}

Port query_port(const ContextHandle& context, const std::string& name) {
  Port port;
  ibv_port_attr attributes{};
  const int error = ibv_query_port(context.get(), port.number, &attributes);
  if (error != 0) throw util::system_error(fmt::format("query port {} of {}", port.number, name), error);
  port.link = attributes.link_layer == IBV_LINK_LAYER_ETHERNET ? LinkLayer::kEthernet : LinkLayer::kInfiniBand;
  port.active = attributes.state == IBV_PORT_ACTIVE;
  port.lid = attributes.lid;
  port.mtu = static_cast<Mtu>(attributes.active_mtu);
  if (port.link == LinkLayer::kEthernet) {
    const auto index = find_roce_gid(context.get(), port.number, attributes.gid_tbl_len);
    if (!index) throw util::Error(fmt::format("port {} of {} has no RoCE v2 GID", port.number, name));
    port.gid_index = *index;
  }
  ibv_gid gid{};
  if (ibv_query_gid(context.get(), port.number, port.gid_index, &gid) != 0) {
    throw util::system_error(fmt::format("query GID {} of {}", port.gid_index, name), errno);
  }
  std::memcpy(port.gid.data(), gid.raw, port.gid.size());
  if (!port.active) throw util::Error(fmt::format("port {} of {} is not active", port.number, name));
  return port;
}

void require_what_queues_need(const Capabilities& found, const std::string& name) {
  if (!found.rc) throw util::Error(fmt::format("{} has no RC transport", name));
  if (found.cqe_version != 1) {
    throw util::Error(fmt::format("{} has CQE version {}, and we read version 1", name, found.cqe_version));
  }
}

}  // namespace

std::vector<std::string> Context::device_names() {
  const DeviceList devices;
  std::vector<std::string> names;
  for (int i = 0; devices.list && i < devices.count; ++i) {
    names.emplace_back(ibv_get_device_name(devices.list.get()[i]));
  }
  return names;
}

Context::Context(const std::string& device_name)
    : name_(device_name),
      handle_(open_device(device_name)),
      capabilities_(query_capabilities(handle_.get())),
      port_(query_port(handle_, device_name)) {
  require_what_queues_need(capabilities_, name_);
}

std::string Context::firmware() const {
  ibv_device_attr attributes{};
  return ibv_query_device(get(), &attributes) == 0 ? attributes.fw_ver : "";
}

std::string Context::pci_bus_id() const {
  std::error_code problem;
  const std::filesystem::path device = std::filesystem::path(get()->device->ibdev_path) / "device";
  const auto name = std::filesystem::read_symlink(device, problem).filename().string();
  return std::count(name.begin(), name.end(), ':') == 2 ? name : "";
}

Pd::Pd(const Context& context) : handle_(ibv_alloc_pd(context.get())) {
  if (!handle_) throw util::system_error(fmt::format("allocate a PD on {}", context.name()), errno);
  mlx5dv_pd pd{};
  mlx5dv_obj object{};
  object.pd.in = handle_.get();
  object.pd.out = &pd;
  if (mlx5dv_init_obj(&object, MLX5DV_OBJ_PD) != 0) {
    throw util::Error(fmt::format("{} does not tell the number of a PD", context.name()));
  }
  number_ = pd.pdn;
}

Mr::Mr(const Pd& pd, const Memory& buffer, int access)
    : handle_(ibv_reg_mr(pd.get(), buffer.data(), buffer.bytes(), access)) {
  if (handle_) return;
  const int of_the_address = errno;
  const auto what = fmt::format("register {} bytes, {}", buffer.bytes(), buffer.kind());
  const auto dma_buf = buffer.dma_buf();
  if (!dma_buf) throw util::system_error(what, of_the_address);
  registration_ = Registration::kDmaBuf;
  const auto iova = reinterpret_cast<std::uint64_t>(buffer.data());
  handle_.reset(ibv_reg_dmabuf_mr(pd.get(), 0, buffer.bytes(), iova, dma_buf.get(), access));
  if (!handle_) {
    throw util::system_error(fmt::format("{}: by address {}; as a DMA-BUF", what, std::strerror(of_the_address)),
                             errno);
  }
}

gda::Local Mr::local() const {
  return {reinterpret_cast<std::uint64_t>(handle_->addr), handle_->lkey};
}

gda::Remote Mr::remote() const {
  return {reinterpret_cast<std::uint64_t>(handle_->addr), handle_->rkey};
}

}  // namespace marrow::verbs
