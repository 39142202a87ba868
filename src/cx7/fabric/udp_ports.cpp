// SPDX-License-Identifier: Apache-2.0
// See udp_ports.h. Facts: getifaddrs(3), SIOCGIFMTU in netdevice(7).
#include "cx7/fabric/udp_ports.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "util/env.h"
#include "util/error.h"
#include "util/fd.h"

namespace marrow::cx7 {
namespace {

constexpr std::size_t kMostPorts = 2;
constexpr std::uint32_t kSmallestMtu = 256;
constexpr std::uint32_t kLargestMtu = 4096;

[[noreturn]] void refuse(const std::string& sentence, const std::string& hint) {
  throw util::Error(sentence, util::ErrorKind::kUsage, hint);
}

/// Name of the interface with this address, empty when there is none. All of 127/8 is the loopback's.
std::string interface_of(std::uint32_t address) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) throw util::system_error("addresses of this host", errno);
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET) continue;
    sockaddr_in own{};
    std::memcpy(&own, at->ifa_addr, sizeof own);
    const bool loopback = (at->ifa_flags & IFF_LOOPBACK) != 0 && address >> 24 == 127;
    if (loopback || ntohl(own.sin_addr.s_addr) == address) return at->ifa_name;
  }
  return {};
}

std::uint32_t mtu_of(const std::string& interface) {
  const util::UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, interface.c_str(), sizeof request.ifr_name - 1);
  if (!socket || ::ioctl(socket.get(), SIOCGIFMTU, &request) != 0) {
    throw util::system_error(fmt::format("MTU of the interface {}", interface), errno);
  }
  return static_cast<std::uint32_t>(request.ifr_mtu);
}

UdpPort parse_port(const std::string& text) {
  in_addr parsed{};
  if (::inet_pton(AF_INET, text.c_str(), &parsed) != 1) {
    refuse(fmt::format("MARROW_SIM_UDP names '{}', which is no IPv4 address", text),
           "an address of this host: ip -br addr");
  }
  UdpPort port{.address = ntohl(parsed.s_addr)};
  const std::string interface = interface_of(port.address);
  if (interface.empty()) {
    refuse(fmt::format("no interface of this host has the address {} that MARROW_SIM_UDP names", text), "ip -br addr");
  }
  const std::uint32_t mtu = mtu_of(interface);
  for (port.mtu_bytes = kLargestMtu; port.mtu_bytes >= kSmallestMtu; port.mtu_bytes /= 2) {
    if (port.mtu_bytes + kRoceOverhead <= mtu) return port;
  }
  refuse(fmt::format("the interface {} has an MTU of {}, too small for RoCE", interface, mtu),
         fmt::format("ip link set {} mtu 1500", interface));
}

}  // namespace

std::vector<UdpPort> parse_udp_ports(std::string_view text) {
  std::vector<UdpPort> ports;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    ports.push_back(parse_port(std::string(text.substr(at, comma - at))));
    at = comma + 1;
  }
  if (ports.size() > kMostPorts) {
    refuse(fmt::format("MARROW_SIM_UDP names {} addresses, and there are two devices", ports.size()),
           "one address, or two with a comma");
  }
  if (ports.size() == kMostPorts && ports[0].address == ports[1].address) {
    refuse(fmt::format("MARROW_SIM_UDP gives both devices the address {}", text.substr(0, text.find(','))),
           "one address is enough: device 1 then has no network");
  }
  return ports;
}

std::span<const UdpPort> udp_ports() {
  static const std::vector<UdpPort> ports = [] {
    const auto text = util::env_text("MARROW_SIM_UDP");
    return text ? parse_udp_ports(*text) : std::vector<UdpPort>();
  }();
  return ports;
}

std::string address_text(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 0xff, address >> 8 & 0xff, address & 0xff);
}

}  // namespace marrow::cx7
