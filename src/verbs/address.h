// SPDX-License-Identifier: Apache-2.0
// What two ends tell each other before they connect, and what an end makes of it. Plain data: an Address may be sent
// to another process as it stands.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace marrow::verbs {

enum class LinkLayer : std::uint8_t { kInfiniBand, kEthernet };

using Gid = std::array<std::uint8_t, 16>;
using Mac = std::array<std::uint8_t, 6>;

/// Path MTU as QP contexts and verbs number it: 1 is 256 bytes, 5 is 4096.
enum class Mtu : std::uint8_t { k256 = 1, k512 = 2, k1024 = 3, k2048 = 4, k4096 = 5 };

[[nodiscard]] constexpr std::uint32_t mtu_bytes(Mtu mtu) {
  return 128u << static_cast<unsigned>(mtu);
}

/// One end of a connection as the other must know it.
struct Address {
  std::uint32_t qpn = 0;
  std::uint32_t psn = 0;  // of the first packet it will send
  std::uint16_t lid = 0;
  LinkLayer link{};
  Mtu mtu = Mtu::k1024;
  std::uint8_t log_reads = 0;  // reads and atomics it answers and issues at once
  Gid gid{};
};
static_assert(std::is_trivially_copyable_v<Address>);

/// How this end behaves once connected.
struct Behaviour {
  std::uint8_t ack_timeout = 14;  // 4.096 us << 14 = 67 ms; devices may wait about twice as long, and at least 2^16
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry = 7;  // 7: for ever
  std::uint8_t min_rnr_nak = 12;
  std::uint8_t service_level = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
};

/// The two addresses and how packets get from one to the other, as the transitions of a QP want it.
struct Connection {
  Address local;
  Address remote;
  Behaviour behaviour;
  std::uint8_t port = 1;
  std::uint8_t gid_index = 0;   // of the local port: a RoCE v2 entry on Ethernet
  bool routed = false;          // InfiniBand across subnets: needs a global header
  Mac remote_mac{};             // Ethernet: of the next hop
  std::uint16_t udp_sport = 0;  // Ethernet

  [[nodiscard]] Mtu mtu() const { return local.mtu < remote.mtu ? local.mtu : remote.mtu; }
  [[nodiscard]] std::uint8_t log_reads() const {
    return local.log_reads < remote.log_reads ? local.log_reads : remote.log_reads;
  }
};

/// Exchanges the addresses of two ends of one process and connects both.
template <class A, class B>
void connect(A& a, B& b) {
  const Address of_a = a.address();
  const Address of_b = b.address();
  a.connect(of_b);
  b.connect(of_a);
}

}  // namespace marrow::verbs
