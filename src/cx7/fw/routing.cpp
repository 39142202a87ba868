// SPDX-License-Identifier: Apache-2.0
// Where the address vectors of DCIs and datagrams lead, and the 40 bytes that a datagram's receiver sees of its way.
// Facts: GRH [prm: IBA vol. 1, 8.3]; IPv4 header in the second half, GRH or IPv6 header else [prm: IBA annex A17].
#include <cstring>

#include "cx7/fw/command.h"
#include "cx7/fw/path.h"

namespace marrow::cx7::fw {
namespace {

constexpr std::uint32_t kGrhPresent = 1u << 30;
constexpr std::uint8_t kNextIsBth = 0x1b;
constexpr std::uint8_t kNextIsUdp = 17;
constexpr std::uint8_t kDefaultHopLimit = 64;
constexpr std::uint32_t kUdHeaders = 12 + 8;  // BTH, DETH
constexpr std::uint32_t kIcrc = 4;
constexpr std::uint32_t kUdpHeader = 8;
constexpr std::uint32_t kIpv4Header = 20;
constexpr std::size_t kIpv4At = kGrhBytes - kIpv4Header;
constexpr std::size_t kIpv4InGid = 12;

bool is_extended(const wire::AddressVector& av) {
  return (av.compact.extension_dctn.host() & wire::kAvExtended) != 0;
}

template <class Word>
void put(GrhSpace to, std::size_t at, Word word) {
  std::memcpy(to.data() + at, &word, sizeof word);
}

bool is_ipv4(const Gid& gid) {
  constexpr Gid kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.data(), kMapped.data(), kIpv4InGid) == 0;
}

// Version, traffic class, flow label; length; next header; hop limit; both addresses.
void write_global(const wire::AddressVector& av, const Gid& source, std::uint32_t length, GrhSpace to) {
  const auto flow = av.extension.grh.host() & 0xfffff;
  put(to, 0, wire::be32(6u << 28 | std::uint32_t{av.extension.traffic_class} << 20 | flow));
  put(to, 4, wire::be16(static_cast<std::uint16_t>(length)));
  put(to, 7, av.extension.hop_limit);
  put(to, 8, source);
  put(to, 24, av.extension.gid);
}

void write_ipv4(const wire::AddressVector& av, const Gid& source, std::uint32_t length, GrhSpace to) {
  const auto header = to.subspan<kIpv4At>();
  const auto store = [&header](std::size_t at, auto word) { std::memcpy(header.data() + at, &word, sizeof word); };
  store(0, std::uint8_t{0x45});
  store(1, av.extension.traffic_class);
  store(2, wire::be16(static_cast<std::uint16_t>(kIpv4Header + length)));
  store(6, wire::be16(0x4000));  // don't fragment
  store(8, av.extension.hop_limit != 0 ? av.extension.hop_limit : kDefaultHopLimit);
  store(9, kNextIsUdp);
  std::memcpy(header.data() + 12, source.data() + kIpv4InGid, 4);
  std::memcpy(header.data() + 16, av.extension.gid.data() + kIpv4InGid, 4);
  std::uint32_t sum = 0;
  for (std::size_t at = 0; at < kIpv4Header; at += 2) {
    wire::be16 word;
    std::memcpy(&word, header.data() + at, sizeof word);
    sum += word.host();
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  store(10, wire::be16(static_cast<std::uint16_t>(~sum)));
}

bool write_grh(std::uint8_t device, const wire::AddressVector& av, std::uint32_t bytes, GrhSpace to) {
  const auto gids = gid_table(device);
  const auto index = av.extension.grh.host() >> 20 & 0xff;
  if (index >= gids.size()) return false;
  const auto& source = gids[index];
  const auto padded = (bytes + 3) & ~3u;
  const auto length = kUdHeaders + padded + kIcrc;
  std::memset(to.data(), 0, to.size());
  if (source.type != GidType::kRoceV2) {
    write_global(av, source.gid, length, to);
    put(to, 6, kNextIsBth);
  } else if (is_ipv4(source.gid)) {
    write_ipv4(av, source.gid, kUdpHeader + length, to);
  } else {
    write_global(av, source.gid, kUdpHeader + length, to);
    put(to, 6, kNextIsUdp);
  }
  return true;
}

std::uint8_t device_of(const wire::AddressVector& av) {
  const bool ethernet = link_layer() == LinkLayer::kEthernet;
  const bool extended = is_extended(av);
  Path to;
  to.has_gid = extended && (ethernet || (av.extension.grh.host() & kGrhPresent) != 0);
  to.gid = av.extension.gid;
  to.lid = av.compact.rlid.host();
  to.has_mac = extended && ethernet;
  to.mac = av.extension.mac;
  return destination_of(to);
}

}  // namespace

Routing routing() {
  const bool ethernet = link_layer() == LinkLayer::kEthernet;
  Routing routing{.device_of = device_of, .ethernet = ethernet, .write_grh = write_grh};
  if (!ethernet) routing.lids = {device_facts(0).lid, device_facts(1).lid};
  return routing;
}

}  // namespace marrow::cx7::fw
