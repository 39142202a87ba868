// SPDX-License-Identifier: Apache-2.0
// See rendezvous.h.
#include "cx7/fabric/rendezvous.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "util/error.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

/// The one message of a connection; the memfd travels with it.
struct Hello {
  std::uint32_t magic = 0x6d777837;  // "mwx7"
  std::uint32_t version = 1;         // of this struct, of RingControl and of Packet together
  std::uint32_t slot = 0;
};

struct Address {
  sockaddr_un un{};
  socklen_t bytes = 0;
};

Address to_address(const std::string& name) {
  Address address;
  address.un.sun_family = AF_UNIX;
  // sun_path[0] stays 0: that makes the name abstract.
  std::memcpy(address.un.sun_path + 1, name.data(), name.size());
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

const sockaddr* generic(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address.un);
}

util::UniqueFd make_socket() {
  return util::UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

/// Anybody may bind or connect to an abstract name.
bool is_same_user(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return false;
  if (peer.uid == ::geteuid()) return true;
  util::log::once("fabric foreign user", "refused a link with process {} of user {}", peer.pid, peer.uid);
  return false;
}

union RightsBuffer {  // the alignment that CMSG_* want
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int))];
};

bool send_hello(int socket, const Hello& hello, int ring_fd) {
  iovec part{const_cast<Hello*>(&hello), sizeof hello};
  RightsBuffer rights{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = rights.bytes;
  message.msg_controllen = sizeof rights.bytes;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof ring_fd);
  std::memcpy(CMSG_DATA(header), &ring_fd, sizeof ring_fd);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof hello;
}

util::UniqueFd taken_fd(msghdr& message) {
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return {};
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return util::UniqueFd(fd);
}

}  // namespace

Rendezvous::Rendezvous(std::string domain, std::string purpose)
    : domain_(std::move(domain)), purpose_(std::move(purpose)) {
  const std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  if (name_of(255).size() > longest) {
    throw util::Error(fmt::format("the domain name '{}' is too long for a socket name", domain_),
                      util::ErrorKind::kUsage);
  }
}

std::string Rendezvous::name_of(unsigned slot) const {
  return fmt::format("marrow-cx7-{}-{}-{}{}{}", ::geteuid(), domain_, slot, purpose_.empty() ? "" : "-", purpose_);
}

/// False when another process holds the name.
bool Rendezvous::bind(unsigned slot) const {
  const Address address = to_address(name_of(slot));
  if (::bind(listener_.get(), generic(address), address.bytes) == 0) return true;
  if (errno != EADDRINUSE) throw util::system_error(fmt::format("bind @{}", name_of(slot)), errno);
  return false;
}

void Rendezvous::listen() const {
  constexpr int kBacklog = 255;  // every other slot at once
  if (::listen(listener_.get(), kBacklog) != 0) throw util::system_error("listen", errno);
}

unsigned Rendezvous::claim(unsigned slots) {
  listener_ = make_socket();
  if (!listener_) throw util::system_error("socket of the software NIC", errno);
  for (slot_ = 0; slot_ < slots && !bind(slot_);) ++slot_;
  if (slot_ == slots) {
    throw util::Error(fmt::format("all {} slots of the domain '{}' are taken by other processes", slots, domain_));
  }
  listen();
  return slot_;
}

void Rendezvous::hold(unsigned slot) {
  listener_ = make_socket();
  if (!listener_) throw util::system_error("socket of the software NIC", errno);
  slot_ = slot;
  if (!bind(slot)) throw util::Error(fmt::format("another process holds the name @{}", name_of(slot)));
  listen();
}

Rendezvous::Outcome Rendezvous::connect(unsigned to, util::UniqueFd& socket) const {
  util::UniqueFd fresh = make_socket();
  if (!fresh) return Outcome::kBusy;
  const Address address = to_address(name_of(to));
  if (::connect(fresh.get(), generic(address), address.bytes) != 0) {
    return errno == EAGAIN ? Outcome::kBusy : Outcome::kNobody;
  }
  if (!is_same_user(fresh.get())) return Outcome::kNobody;
  socket = std::move(fresh);
  return Outcome::kDone;
}

Rendezvous::Outcome Rendezvous::connect(unsigned to, int ring_fd, util::UniqueFd& socket) const {
  util::UniqueFd fresh;
  const Outcome outcome = connect(to, fresh);
  if (outcome != Outcome::kDone) return outcome;
  if (!send_hello(fresh.get(), {.slot = slot_}, ring_fd)) return Outcome::kNobody;
  socket = std::move(fresh);
  return Outcome::kDone;
}

util::UniqueFd Rendezvous::accept() const {
  for (;;) {  // ends: each round takes a connection off the queue
    util::UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket || is_same_user(socket.get())) return socket;
  }
}

Introduction read_introduction(int socket) {
  using State = Introduction::State;
  Hello hello;
  iovec part{&hello, sizeof hello};
  RightsBuffer rights{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = rights.bytes;
  message.msg_controllen = sizeof rights.bytes;
  const ssize_t got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  Introduction said{
      .state = State::kRefused, .slot = hello.slot, .ring_fd = got >= 0 ? taken_fd(message) : util::UniqueFd{}};
  const Hello expected;
  const bool sound = got == sizeof hello && hello.magic == expected.magic && hello.version == expected.version;
  if (sound && said.ring_fd) said.state = State::kSound;
  return said;
}

}  // namespace marrow::cx7
