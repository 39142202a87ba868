// SPDX-License-Identifier: Apache-2.0
// See udp_socket.h. Facts: IP_MTU_DISCOVER sets don't-fragment, and an unconnected socket then sends identification 0
// [obs: Linux 6.1]; SO_NO_CHECK in socket(7).
#include "cx7/fabric/udp_socket.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "cx7/fabric/udp_ports.h"
#include "util/error.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

constexpr int kBufferBytes = 16 << 20;  // a burst of some hundred large packets while the engine thread is elsewhere

void set(int fd, int level, int option, int value, const char* what) {
  if (::setsockopt(fd, level, option, &value, sizeof value) != 0) throw util::system_error(what, errno);
}

/// As much as we may have: without the right to exceed net.core.rmem_max, that.
void enlarge(int fd, int forced, int plain) {
  if (::setsockopt(fd, SOL_SOCKET, forced, &kBufferBytes, sizeof kBufferBytes) == 0) return;
  (void)::setsockopt(fd, SOL_SOCKET, plain, &kBufferBytes, sizeof kBufferBytes);
}

util::UniqueFd make_udp_socket() {
  util::UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) throw util::system_error("UDP socket of the software NIC", errno);
  set(fd.get(), IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO, "don't-fragment of the software NIC's UDP socket");
  set(fd.get(), SOL_SOCKET, SO_NO_CHECK, 1, "UDP checksum of the software NIC");  // the ICRC covers more
  enlarge(fd.get(), SO_SNDBUFFORCE, SO_SNDBUF);
  enlarge(fd.get(), SO_RCVBUFFORCE, SO_RCVBUF);
  return fd;
}

/// The port it got, or nothing when another socket holds it.
std::optional<std::uint16_t> bind_to(int fd, std::uint32_t address, std::uint16_t port) {
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(address);
  own.sin_port = htons(port);
  socklen_t bytes = sizeof own;
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) {
    if (errno == EADDRINUSE) return std::nullopt;
    throw util::system_error(fmt::format("UDP port {} of {}", port, address_text(address)), errno);
  }
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &bytes) != 0) {
    throw util::system_error("port of the software NIC's UDP socket", errno);
  }
  return ntohs(own.sin_port);
}

}  // namespace

UdpSocket::UdpSocket(std::uint32_t address) : address_(address), fd_(make_udp_socket()) {
  auto port = bind_to(fd_.get(), address, kRoceUdpPort);
  receives_ = port.has_value();
  if (!port) port = bind_to(fd_.get(), address, 0);
  if (!port) throw util::Error(fmt::format("no UDP port of {} is free", address_text(address)));
  port_ = *port;
  if (receives_) return;
  util::log::info("another process has UDP port {} of {}; packets come through it", kRoceUdpPort,
                  address_text(address));
}

bool UdpSocket::try_to_receive() {
  if (receives_) return false;
  util::UniqueFd fresh = make_udp_socket();
  const auto port = bind_to(fresh.get(), address_, kRoceUdpPort);
  if (!port) return false;
  fd_ = std::move(fresh);
  port_ = *port;
  receives_ = true;
  return true;
}

}  // namespace marrow::cx7
