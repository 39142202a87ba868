// SPDX-License-Identifier: Apache-2.0
// See udp_link.h. Facts: sendmmsg(2), recvmmsg(2), epoll(7).
#include "cx7/fabric/udp_link.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cx7/fabric/hosts.h"
#include "cx7/fabric/icrc.h"
#include "cx7/fabric/udp_ports.h"
#include "util/error.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

constexpr std::chrono::milliseconds kTryEvery{50};
constexpr std::uint32_t kMostRest = kMostExtensionBytes + 4 + kMaxMtu + kIcrcBytes;  // of a packet, behind its BTH
constexpr std::uint8_t kPlainForSure = 16;

std::uint32_t crc_of_bth(std::uint32_t state, std::span<const std::byte> headers) {
  std::array<std::byte, kBthBytes> bth;
  std::copy_n(headers.begin(), kBthBytes, bth.begin());
  bth[kIcrcMaskedAt] = std::byte{0xff};
  return crc32_update(state, bth);
}

}  // namespace

struct UdpLink::Outgoing {
  Packet packet;
  std::array<std::byte, kMaxPayload> payload;
  std::array<std::byte, kMostHeaderBytes> headers;
  std::array<std::byte, 8> trailer;  // pad and ICRC
  std::array<iovec, 3> parts;
  sockaddr_in to;
  std::uint8_t device;
};

struct UdpLink::Incoming {
  Packet packet;
  std::array<std::byte, kGrhBytes + kMostRest> payload;  // from the extension headers on, until they are taken out
  std::array<std::byte, kBthBytes> bth;
  std::array<iovec, 2> parts;
  sockaddr_in from;
};

UdpLink::UdpLink(std::span<const std::uint32_t> addresses, LinkCounters& counters)
    : counters_(counters),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      outgoing_(new Outgoing[kSlots]),
      incoming_(new Incoming[kBatch]) {
  if (!events_) throw util::system_error("epoll of the software NIC", errno);
  for (const auto address : addresses) watch(sockets_.emplace_back(address), EPOLLIN);
  for (std::uint32_t k = 0; k < kSlots; ++k) {
    auto& header = sending_[k].msg_hdr;
    header.msg_name = &outgoing_[k].to;
    header.msg_namelen = sizeof outgoing_[k].to;
    header.msg_iov = outgoing_[k].parts.data();
    header.msg_iovlen = outgoing_[k].parts.size();
  }
  for (std::uint32_t k = 0; k < kBatch; ++k) {
    auto& slot = incoming_[k];
    slot.parts = {{{slot.bth.data(), slot.bth.size()}, {slot.payload.data(), kMostRest}}};
    auto& header = receiving_[k].msg_hdr;
    header.msg_name = &slot.from;
    header.msg_iov = slot.parts.data();
    header.msg_iovlen = slot.parts.size();
  }
}

UdpLink::~UdpLink() = default;

void UdpLink::watch(const UdpSocket& socket, std::uint32_t wanted) {
  epoll_event event{.events = wanted, .data = {.fd = socket.fd()}};
  if (::epoll_ctl(events_.get(), EPOLL_CTL_MOD, socket.fd(), &event) == 0) return;
  (void)::epoll_ctl(events_.get(), EPOLL_CTL_ADD, socket.fd(), &event);  // fails for want of memory: then it is polled
}

void UdpLink::want_room(bool wanted) {
  if (wants_room_ == wanted) return;
  wants_room_ = wanted;
  for (const auto& socket : sockets_) watch(socket, wanted ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

Packet* UdpLink::reserve(std::uint8_t host) {
  if (head_ - tail_ == kSlots) flush();
  if (head_ - tail_ == kSlots) return nullptr;
  Outgoing& slot = outgoing_[head_ % kSlots];
  slot.to = {};
  slot.to.sin_family = AF_INET;
  slot.to.sin_port = htons(kRoceUdpPort);
  slot.to.sin_addr.s_addr = htonl(address_of_host(host));
  slot.packet = {};
  return &slot.packet;
}

void UdpLink::commit() {
  Outgoing& slot = outgoing_[head_ % kSlots];
  const Packet& packet = slot.packet;
  const std::uint32_t header_bytes = write_headers(packet, slot.headers.data());
  if (header_bytes == 0 || packet.from_device >= sockets_.size()) {
    util::log::once("network form", "a packet to another host was lost: {}",
                    header_bytes == 0
                        ? "its transport or operation has no public form on a wire (DC, masked atomics)"
                        : "mlx5_sim1 has no address of its own (MARROW_SIM_UDP=ADDRESS,ADDRESS gives it one)");
    ++counters_.network_send_errors;
    return;
  }
  const UdpSocket& socket = sockets_[packet.from_device];
  const std::span payload(packet.payload() + grh_bytes(packet), packet.payload_bytes - grh_bytes(packet));
  const std::uint32_t pad = pad_of(static_cast<std::uint32_t>(payload.size()));
  const auto bytes = header_bytes + static_cast<std::uint32_t>(payload.size()) + pad + kIcrcBytes;
  slot.trailer.fill(std::byte{0});
  auto crc = crc32_of_headers({socket.address(), ntohl(slot.to.sin_addr.s_addr), socket.port(), kRoceUdpPort}, bytes);
  const std::span headers(slot.headers.data(), header_bytes);
  crc = crc32_update(crc_of_bth(crc, headers), headers.subspan(kBthBytes));
  crc = ~crc32_update(crc32_update(crc, payload), {slot.trailer.data(), pad});
  std::memcpy(slot.trailer.data() + pad, &crc, sizeof crc);  // little-endian, as this processor is
  slot.parts[0] = {slot.headers.data(), header_bytes};
  slot.parts[1] = {const_cast<std::byte*>(payload.data()), payload.size()};
  slot.parts[2] = {slot.trailer.data(), pad + kIcrcBytes};
  slot.device = packet.from_device;
  ++head_;
}

/// Sends slots from `at` on, as long as they go through one socket; returns how many the system took or refused.
std::uint32_t UdpLink::send_run(std::uint32_t at, std::uint32_t most) {
  const auto device = outgoing_[at].device;
  std::uint32_t run = 1;
  while (run < std::min({most, kBatch, kSlots - at}) && outgoing_[at + run].device == device) ++run;
  const int sent = ::sendmmsg(sockets_[device].fd(), &sending_[at], run, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent > 0) {
    counters_.network_packets_sent += static_cast<std::uint32_t>(sent);
    return static_cast<std::uint32_t>(sent);
  }
  if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR) return 0;
  util::log::once("network send", "a packet to {} was lost: {}", address_text(ntohl(outgoing_[at].to.sin_addr.s_addr)),
                  std::strerror(errno));
  ++counters_.network_send_errors;
  return 1;
}

void UdpLink::flush() {
  while (tail_ != head_) {
    const std::uint32_t done = send_run(tail_ % kSlots, head_ - tail_);
    if (done == 0) return want_room(true);
    tail_ += done;
  }
  want_room(false);
}

std::span<Packet* const> UdpLink::receive(unsigned most) {
  std::size_t arrived = 0;
  for (std::size_t turn = 0; turn < sockets_.size() && arrived == 0; ++turn) {
    const std::size_t device = next_device_;
    next_device_ = next_device_ + 1 < sockets_.size() ? next_device_ + 1 : 0;
    if (!sockets_[device].receives()) continue;
    for (auto& message : receiving_) message.msg_hdr.msg_namelen = sizeof(sockaddr_in);
    const int count =
        ::recvmmsg(sockets_[device].fd(), receiving_.data(), std::min(most, kBatch), MSG_DONTWAIT, nullptr);
    for (int k = 0; k < count; ++k) {
      Incoming& slot = incoming_[static_cast<std::size_t>(k)];
      if (parse(slot, receiving_[static_cast<std::size_t>(k)], static_cast<std::uint8_t>(device))) {
        arrived_[arrived++] = &slot.packet;
      }
    }
  }
  return {arrived_.data(), arrived};
}

bool UdpLink::parse(Incoming& slot, const mmsghdr& message, std::uint8_t device) {
  Packet& packet = slot.packet;
  packet = {};
  const std::uint32_t bytes = message.msg_len;
  const auto read = bytes >= kBthBytes + kIcrcBytes ? read_bth(slot.bth.data(), packet) : std::nullopt;
  const auto shape = read.value_or(WireShape{});
  const std::uint32_t frame = read ? kBthBytes + shape.extension_bytes + shape.pad_bytes + kIcrcBytes : bytes + 1;
  if (frame > bytes || bytes - frame > kMaxMtu || (message.msg_hdr.msg_flags & MSG_TRUNC) != 0) {
    ++counters_.network_malformed;
    return false;
  }
  if (!is_sound(slot, bytes, device)) {
    ++counters_.network_icrc_errors;
    return false;
  }
  ++counters_.network_packets_received;
  read_extensions(slot.payload.data(), packet);
  const std::uint32_t from = ntohl(slot.from.sin_addr.s_addr);
  packet.payload_bytes = bytes - frame;
  packet.from_device = find_host(from);
  packet.to_device = device;
  packet.from_host = from;
  packet.grh = transport_of(packet.opcode) == Transport::kUd;
  const std::uint32_t front = grh_bytes(packet);
  if (shape.extension_bytes != front) {
    std::memmove(packet.payload() + front, slot.payload.data() + shape.extension_bytes, packet.payload_bytes);
  }
  if (packet.grh) write_ip_header(packet, sockets_[device].address());
  packet.payload_bytes += front;
  return true;
}

/// The ICRC of senders like us is computed with identification 0. Others count it up, and the socket does not show it:
/// then any identification that explains the sum will do, until the host has shown that it is one like us.
bool UdpLink::is_sound(const Incoming& slot, std::uint32_t bytes, std::uint8_t device) {
  const std::uint32_t from = ntohl(slot.from.sin_addr.s_addr);
  const std::uint32_t rest = bytes - kBthBytes - kIcrcBytes;
  std::uint32_t said;
  std::memcpy(&said, slot.payload.data() + rest, sizeof said);
  auto crc = crc32_of_headers({from, sockets_[device].address(), ntohs(slot.from.sin_port), kRoceUdpPort}, bytes);
  crc = ~crc32_update(crc_of_bth(crc, slot.bth), {slot.payload.data(), rest});
  auto& plain = plain_senders_[find_host(from)];
  if (crc == said) {
    plain = static_cast<std::uint8_t>(std::min<unsigned>(plain + 1u, kPlainForSure));
    return true;
  }
  if (plain == kPlainForSure || !identification_behind(crc ^ said, bytes)) return false;
  plain = 0;
  return true;
}

void UdpLink::maintain(std::chrono::nanoseconds now) {
  if (now < next_try_) return;
  next_try_ = now + kTryEvery;
  for (auto& socket : sockets_) {
    if (socket.receives()) continue;
    flush();  // what is committed was summed up with the port it has now
    if (tail_ == head_ && socket.try_to_receive()) watch(socket, EPOLLIN);
  }
}

}  // namespace marrow::cx7
