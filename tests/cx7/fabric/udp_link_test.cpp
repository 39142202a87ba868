// SPDX-License-Identifier: Apache-2.0
// The link between hosts. All of 127/8 is this host's, so two addresses and two domains make two hosts of one process.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "cx7/fabric/fabric.h"
#include "cx7/fabric/fresh_domain.h"
#include "cx7/fabric/hosts.h"
#include "cx7/fabric/icrc.h"
#include "cx7/fabric/roce_format.h"
#include "cx7/fabric/udp_ports.h"
#include "util/clock.h"
#include "util/error.h"

namespace marrow::cx7 {
namespace {

using State = Reservation::State;
using std::chrono::milliseconds;

/// 127.A.B.HOST, A and B of this process, so that tests run side by side.
std::uint32_t address_of(unsigned host) {
  const auto pid = static_cast<std::uint32_t>(::getpid());
  return 127u << 24 | (64 + (pid >> 8 & 0x3f)) << 16 | (pid & 0xff) << 8 | host;
}

struct Host {
  explicit Host(unsigned number, const std::string& domain = fresh_domain())
      : address(address_of(number)), fabric(domain, {.addresses = {address}}) {}
  [[nodiscard]] unsigned route() const { return Fabric::kOtherHosts + number_of_host(address).value(); }

  std::uint32_t address;
  Fabric fabric;
};

State send(Fabric& from, unsigned route, const Packet& packet, std::string_view payload = {}) {
  const auto bytes = static_cast<std::uint32_t>(payload.size());
  const Reservation room = from.reserve(route, bytes);
  if (room.state != State::kRoom) return room.state;
  *room.packet = packet;
  room.packet->payload_bytes = bytes;
  std::ranges::copy(std::as_bytes(std::span(payload)), room.packet->payload());
  from.commit(route);
  return room.state;
}

struct Arrived {
  Packet packet;
  std::string payload;
};

/// Steps both sides until `count` packets are there, or a second has passed.
std::vector<Arrived> receive(Fabric& at, Fabric& from, std::size_t count) {
  std::vector<Arrived> arrived;
  for (const auto end = util::now() + milliseconds(1000); arrived.size() < count && util::now() < end;) {
    from.deliver(64, util::now(), [](const Packet&) {});
    at.deliver(64, util::now(), [&](const Packet& packet) {
      arrived.push_back({packet, {reinterpret_cast<const char*>(packet.payload()), packet.payload_bytes}});
    });
  }
  return arrived;
}

TEST(UdpPorts, RefusesWhatIsNoAddressOfThisHost) {
  EXPECT_THROW((void)parse_udp_ports("10.0.0"), util::Error);
  EXPECT_THROW((void)parse_udp_ports(""), util::Error);
  EXPECT_THROW((void)parse_udp_ports("192.0.2.1"), util::Error) << "set aside for documentation: nobody has it";
  EXPECT_THROW((void)parse_udp_ports("127.0.0.1,127.0.0.1"), util::Error);
  EXPECT_THROW((void)parse_udp_ports("127.0.0.1,127.0.0.2,127.0.0.3"), util::Error);
  EXPECT_EQ(parse_udp_ports("127.0.0.1,127.0.0.2").at(1).address, 0x7f000002u);
  EXPECT_EQ(parse_udp_ports("127.0.0.1").at(0).mtu_bytes, 4096u);
}

TEST(Hosts, KeepTheirNumbers) {
  const auto a = number_of_host(address_of(90));
  const auto b = number_of_host(address_of(91));
  ASSERT_TRUE(a && b);
  EXPECT_NE(*a, *b);
  EXPECT_GE(*a, kFirstHost);
  EXPECT_EQ(number_of_host(address_of(90)), a);
  EXPECT_EQ(find_host(address_of(91)), *b);
  EXPECT_EQ(find_host(address_of(92)), kUnknownHost);
  EXPECT_EQ(address_of_host(*a), address_of(90));
  EXPECT_EQ(address_of_host(kUnknownHost), 0u);
}

TEST(UdpLink, CarriesEveryByteBothWays) {
  Host a(1);
  Host b(2);
  const auto number_of_a = number_of_host(a.address);
  std::string payload(4096, '\0');
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<char>(i * 7 + 1);
  for (const std::size_t bytes : {0u, 1u, 2u, 3u, 4u, 1024u, 4095u, 4096u}) {
    const Packet packet{.dest_qpn = 0x123,
                        .psn = static_cast<std::uint32_t>(bytes),
                        .opcode = PacketOpcode::kWriteOnly,
                        .ack_request = true,
                        .va = 0x123456789abcdef0,
                        .rkey = 77,
                        .dma_bytes = static_cast<std::uint32_t>(bytes)};
    ASSERT_EQ(send(a.fabric, b.route(), packet, payload.substr(0, bytes)), State::kRoom);
    const auto arrived = receive(b.fabric, a.fabric, 1);
    ASSERT_EQ(arrived.size(), 1u) << bytes;
    const Packet& got = arrived[0].packet;
    EXPECT_EQ(arrived[0].payload, payload.substr(0, bytes));
    EXPECT_EQ(got.va, packet.va);
    EXPECT_EQ(got.rkey, packet.rkey);
    EXPECT_EQ(got.psn, packet.psn);
    EXPECT_EQ(got.to_device, 0);
    EXPECT_EQ(got.from_device, number_of_a) << "the source is the host, not a device of this process";
  }
  ASSERT_EQ(send(b.fabric, a.route(), {.dest_qpn = 5, .opcode = PacketOpcode::kAcknowledge, .syndrome = 0x1f}),
            State::kRoom);
  EXPECT_EQ(receive(a.fabric, b.fabric, 1).size(), 1u);
  EXPECT_EQ(b.fabric.counters().network_icrc_errors, 0u);
}

TEST(UdpLink, KeepsABurstInOrder) {
  Host a(1);
  Host b(2);
  std::vector<Arrived> arrived;
  for (std::uint32_t psn = 0; psn < 1000;) {
    const auto state =
        send(a.fabric, b.route(), {.dest_qpn = 1, .psn = psn, .opcode = PacketOpcode::kSendOnly}, "12345678");
    if (state == State::kRoom) ++psn;
    if (psn % 50 != 0) continue;
    const auto more = receive(b.fabric, a.fabric, psn - arrived.size());
    arrived.insert(arrived.end(), more.begin(), more.end());
  }
  ASSERT_EQ(arrived.size(), 1000u);
  for (std::uint32_t psn = 0; psn < 1000; ++psn) EXPECT_EQ(arrived[psn].packet.psn, psn);
}

TEST(UdpLink, LosesWhatHasNoForm) {
  Host a(1);
  Host b(2);
  EXPECT_EQ(send(a.fabric, b.route(), {.dest_qpn = 1, .opcode = PacketOpcode::kDcConnect, .dc = true}), State::kRoom);
  EXPECT_EQ(send(a.fabric, b.route(), {.dest_qpn = 1, .opcode = PacketOpcode::kSendOnly, .from_device = 1}),
            State::kRoom);
  EXPECT_TRUE(receive(b.fabric, a.fabric, 1).empty());
  EXPECT_EQ(a.fabric.counters().network_send_errors, 2u);
  EXPECT_EQ(a.fabric.reserve(Fabric::kOtherHosts + kUnknownHost, 0).state, State::kLost);
}

TEST(UdpLink, ADatagramShowsWhereItCameFrom) {
  Host a(1);
  Host b(2);
  const std::string payload = std::string(40, 'g') + "hello";
  Packet packet{.dest_qpn = 9, .opcode = PacketOpcode::kUdSendOnly, .msn = 0x55, .rkey = 0x11111111};
  packet.grh = true;
  ASSERT_EQ(send(a.fabric, b.route(), packet, payload), State::kRoom);
  const auto arrived = receive(b.fabric, a.fabric, 1);
  ASSERT_EQ(arrived.size(), 1u);
  ASSERT_EQ(arrived[0].payload.size(), 45u);
  EXPECT_EQ(arrived[0].payload.substr(40), "hello");
  std::uint32_t from = 0;
  std::memcpy(&from, arrived[0].payload.data() + 32, 4);
  EXPECT_EQ(ntohl(from), a.address);
  EXPECT_EQ(arrived[0].packet.msn, 0x55u);
  EXPECT_EQ(arrived[0].packet.rkey, 0x11111111u);
}

/// A sender that is no Fabric: raw bytes, from a port of its own. Headers by hand, not by the code under test.
class Stranger {
 public:
  explicit Stranger(std::uint32_t address) : address_(address), fd_(::socket(AF_INET, SOCK_DGRAM, 0)) {
    const auto own = name(address, 0);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    sockaddr_in bound{};
    socklen_t bytes = sizeof bound;
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &bytes), 0);
    port_ = ntohs(bound.sin_port);
  }
  ~Stranger() { ::close(fd_); }

  void send(std::uint32_t to, const std::vector<std::byte>& bytes) const {
    const auto there = name(to, kRoceUdpPort);
    EXPECT_GT(::sendto(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
  }

  /// A SEND ONLY without payload whose ICRC says that the IP header had this identification.
  [[nodiscard]] std::vector<std::byte> packet(std::uint32_t to, std::uint16_t identification) const {
    std::vector<std::byte> bytes(kBthBytes + kIcrcBytes);
    EXPECT_EQ(write_headers({.dest_qpn = 1, .opcode = PacketOpcode::kSendOnly}, bytes.data()), kBthBytes);
    bytes[kIcrcMaskedAt] = std::byte{0xff};
    const auto size = static_cast<std::uint32_t>(bytes.size());
    const auto crc = ~crc32_update(crc_with(to, size, identification), std::span(bytes).first(kBthBytes));
    std::memcpy(bytes.data() + kBthBytes, &crc, sizeof crc);
    bytes[kIcrcMaskedAt] = std::byte{0};
    return bytes;
  }

 private:
  static sockaddr_in name(std::uint32_t address, std::uint16_t port) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(address);
    name.sin_port = htons(port);
    return name;
  }
  [[nodiscard]] std::uint32_t crc_with(std::uint32_t to, std::uint32_t size, std::uint16_t identification) const {
    std::array<std::uint8_t, 28> h{0x45, 0xff, 0, static_cast<std::uint8_t>(28 + size)};
    h[4] = static_cast<std::uint8_t>(identification >> 8);
    h[5] = static_cast<std::uint8_t>(identification);
    h[6] = 0x40;
    h[8] = h[10] = h[11] = h[26] = h[27] = 0xff;
    h[9] = 17;
    for (unsigned i = 0; i < 4; ++i) h[12 + i] = static_cast<std::uint8_t>(address_ >> (24 - 8 * i));
    for (unsigned i = 0; i < 4; ++i) h[16 + i] = static_cast<std::uint8_t>(to >> (24 - 8 * i));
    h[20] = static_cast<std::uint8_t>(port_ >> 8);
    h[21] = static_cast<std::uint8_t>(port_);
    h[22] = kRoceUdpPort >> 8;
    h[23] = kRoceUdpPort & 0xff;
    h[25] = static_cast<std::uint8_t>(8 + size);
    return crc32_update(kCrcAfterOnes, std::as_bytes(std::span(h)));
  }

  std::uint32_t address_;
  int fd_;
  std::uint16_t port_ = 0;
};

TEST(UdpLink, RefusesDamageAndWhatIsNoPacket) {
  Host a(1);
  Host b(2);
  const Stranger stranger(address_of(3));
  auto damaged = stranger.packet(b.address, 7);
  damaged[9] ^= std::byte{1};  // of the PSN
  stranger.send(b.address, damaged);
  stranger.send(b.address, std::vector<std::byte>(3));
  stranger.send(b.address, std::vector<std::byte>(5000));
  auto padded = stranger.packet(b.address, 0);
  padded[1] = std::byte{0x30};  // three bytes of pad, and no payload to pad
  stranger.send(b.address, padded);
  EXPECT_TRUE(receive(b.fabric, a.fabric, 1).empty());
  EXPECT_EQ(b.fabric.counters().network_icrc_errors, 1u);
  EXPECT_EQ(b.fabric.counters().network_malformed, 3u);
}

TEST(UdpLink, TakesAnyIdentificationUntilTheHostIsKnownToSendZero) {
  Host a(1);
  Host b(2);
  (void)number_of_host(address_of(4));
  const Stranger stranger(address_of(4));
  stranger.send(b.address, stranger.packet(b.address, 0x1234));
  EXPECT_EQ(receive(b.fabric, a.fabric, 1).size(), 1u);
  for (int i = 0; i < 20; ++i) stranger.send(b.address, stranger.packet(b.address, 0));
  EXPECT_EQ(receive(b.fabric, a.fabric, 20).size(), 20u);
  stranger.send(b.address, stranger.packet(b.address, 0x1234));
  EXPECT_TRUE(receive(b.fabric, a.fabric, 1).empty());
  EXPECT_EQ(b.fabric.counters().network_icrc_errors, 1u);
}

// Two processes of one host: the second has no port 4791, and gets its packets through the first.
TEST(UdpLink, OneHostsProcessesShareItsAddress) {
  const auto domain = fresh_domain();
  Host a(1);
  auto first = std::make_unique<Host>(2, domain);
  Host second(2, domain);
  ASSERT_EQ(second.fabric.slot(), 1u);
  const auto to_second = [&](std::uint32_t psn) {
    const Packet packet{.dest_qpn = 1u << 16 | 99, .psn = psn, .opcode = PacketOpcode::kSendOnly};
    return send(a.fabric, second.route(), packet, "to the second");
  };
  const auto pump = [&](milliseconds time, std::size_t count) {
    std::vector<Arrived> arrived;
    for (const auto end = util::now() + time; arrived.size() < count && util::now() < end;) {
      if (first) first->fabric.maintain();
      if (first) first->fabric.deliver(64, util::now(), [](const Packet&) { ADD_FAILURE() << "not for the first"; });
      second.fabric.maintain();
      const auto more = receive(second.fabric, a.fabric, 0);
      second.fabric.deliver(64, util::now(), [&](const Packet& packet) {
        arrived.push_back({packet, {reinterpret_cast<const char*>(packet.payload()), packet.payload_bytes}});
      });
      a.fabric.deliver(64, util::now(), [](const Packet&) {});
    }
    return arrived;
  };
  ASSERT_EQ(to_second(1), State::kRoom);
  auto arrived = pump(milliseconds(2000), 1);
  ASSERT_EQ(arrived.size(), 1u);
  EXPECT_EQ(arrived[0].payload, "to the second");
  EXPECT_EQ(arrived[0].packet.from_device, number_of_host(a.address));
  EXPECT_EQ(first->fabric.counters().network_forwarded, 1u);

  // What the second sends comes from its own port, and from the host's address.
  ASSERT_EQ(send(second.fabric, a.route(), {.dest_qpn = 3, .opcode = PacketOpcode::kSendOnly}), State::kRoom);
  EXPECT_EQ(receive(a.fabric, second.fabric, 1).size(), 1u);

  first.reset();  // the second takes the port over
  pump(milliseconds(200), 1);
  ASSERT_EQ(to_second(2), State::kRoom);
  arrived = pump(milliseconds(2000), 1);
  ASSERT_EQ(arrived.size(), 1u);
  EXPECT_EQ(arrived[0].packet.psn, 2u);
}

TEST(UdpLink, AnArrivingPacketEndsASleep) {
  Host a(1);
  Host b(2);
  ASSERT_EQ(send(a.fabric, b.route(), {.dest_qpn = 1, .opcode = PacketOpcode::kSendOnly}), State::kRoom);
  a.fabric.deliver(1, util::now(), [](const Packet&) {});  // sends
  const auto from = util::now();
  b.fabric.sleep(milliseconds(2000));
  EXPECT_LT(util::now() - from, milliseconds(1000));
  EXPECT_EQ(b.fabric.deliver(8, util::now(), [](const Packet&) {}), 1u);
}

}  // namespace
}  // namespace marrow::cx7
