// SPDX-License-Identifier: Apache-2.0
#include "cx7/fw/path.h"

#include "cx7/hca/engine.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

std::optional<std::uint8_t> over_infiniband(const Path& path) {
  const auto device = device_of_lid(path.lid);
  if (!device) {
    util::log::once("path.lid", "path to LID {}: nobody's, packets to it are lost", path.lid);
    return std::nullopt;
  }
  if (path.has_gid && device_of_gid(path.gid) != device) {
    util::log::once("path.gid", "path to LID {} with a GID that is not there: packets to it are lost", path.lid);
    return std::nullopt;
  }
  return device;
}

std::optional<std::uint8_t> over_ethernet(const Path& path) {
  const auto device = path.has_gid ? device_of_gid(path.gid) : std::nullopt;
  if (!device) {
    const auto host = path.has_gid ? host_of_gid(path.gid) : std::nullopt;
    if (!host) util::log::once("path.gid", "path to a GID that is nobody's: packets to it are lost");
    return host;
  }
  if (path.has_mac && device_facts(*device).mac != path.mac) {
    util::log::once("path.mac", "path to {} with another device's MAC: packets to it are lost",
                    device_facts(*device).name);
    return std::nullopt;
  }
  return device;
}

}  // namespace

std::uint8_t destination_of(const Path& path) {
  const auto device = link_layer() == LinkLayer::kInfiniBand ? over_infiniband(path) : over_ethernet(path);
  return device.value_or(kNoDevice);
}

}  // namespace marrow::cx7
