// SPDX-License-Identifier: Apache-2.0
// See path.h. Facts: the resolved MAC stands in the address vector of an AH [dv]; GID prefix = subnet [prm: IBA].
#include "verbs/path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include "util/error.h"

namespace marrow::verbs {
namespace {

constexpr std::size_t kSubnetPrefixBytes = 8;
constexpr std::uint8_t kMostLogReads = 4;  // 16 reads and atomics at once

/// The kernel looks up the neighbour for us while it makes the address handle.
Mac resolve_mac(const Context& context, const Pd& pd, const Connection& connection) {
  ibv_ah_attr attributes{};
  attributes.is_global = 1;
  attributes.port_num = connection.port;
  attributes.grh.sgid_index = connection.gid_index;
  attributes.grh.hop_limit = connection.behaviour.hop_limit;
  std::memcpy(attributes.grh.dgid.raw, connection.remote.gid.data(), connection.remote.gid.size());
  const AhHandle ah(ibv_create_ah(pd.get(), &attributes));
  if (!ah) throw util::system_error(fmt::format("resolve the peer's GID from {}", context.name()), errno);
  mlx5dv_ah vector{};
  mlx5dv_obj object{};
  object.ah.in = ah.get();
  object.ah.out = &vector;
  if (mlx5dv_init_obj(&object, MLX5DV_OBJ_AH) != 0) {
    throw util::Error(fmt::format("{} does not tell the peer's MAC", context.name()));
  }
  Mac mac{};
  std::memcpy(mac.data(), vector.av->rmac, mac.size());
  return mac;
}

}  // namespace

Address make_address(const Context& context, std::uint32_t qpn) {
  std::random_device random;
  const Port& port = context.port();
  const Capabilities& limits = context.capabilities();
  const auto log_reads = std::min({limits.log_max_reads_issued, limits.log_max_reads_answered, kMostLogReads});
  return {.qpn = qpn,
          .psn = random() & 0xffffff,
          .lid = port.lid,
          .link = port.link,
          .mtu = port.mtu,
          .log_reads = log_reads,
          .gid = port.gid};
}

Connection resolve(const Context& context, const Pd& pd, const Address& local, const Address& remote,
                   const Behaviour& behaviour) {
  if (local.link != remote.link) {
    throw util::Error(
        fmt::format("{} and its peer are on different kinds of link (InfiniBand and Ethernet)", context.name()));
  }
  Connection connection{.local = local, .remote = remote, .behaviour = behaviour};
  connection.port = context.port().number;
  connection.gid_index = context.port().gid_index;
  if (local.link == LinkLayer::kEthernet) {
    connection.udp_sport = udp_source_port(local.qpn, remote.qpn, context.capabilities());
    connection.remote_mac = resolve_mac(context, pd, connection);
  } else {
    connection.routed = !std::equal(local.gid.begin(), local.gid.begin() + kSubnetPrefixBytes, remote.gid.begin());
  }
  return connection;
}

std::uint16_t udp_source_port(std::uint32_t one_qpn, std::uint32_t other_qpn, const Capabilities& limits) {
  const std::uint32_t low = std::min(one_qpn, other_qpn);
  const std::uint32_t high = std::max(one_qpn, other_qpn);
  std::uint32_t mixed = low * 0x9e3779b1u ^ high * 0x85ebca77u;
  mixed ^= mixed >> 15;
  const std::uint32_t ports = limits.max_udp_sport - limits.min_udp_sport + 1u;
  return static_cast<std::uint16_t>(limits.min_udp_sport + mixed % ports);
}

}  // namespace marrow::verbs
