// SPDX-License-Identifier: Apache-2.0
// See control_links.h. Facts: unix(7) (SOCK_SEQPACKET keeps message boundaries), epoll(7).
#include "cx7/fabric/control_links.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "util/error.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

constexpr unsigned kMostAtOnce = 1024;          // messages of a link, before others get their turn
constexpr std::size_t kMostWaiting = 1u << 18;  // more than all keys and QPs of two devices
constexpr ControlLinks::Link kListener = 0;

util::UniqueFd make_epoll() {
  util::UniqueFd fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!fd) throw util::system_error("epoll of the software NIC", errno);
  return fd;
}

/// Rounded up: an early end would look like one without an event.
int to_milliseconds(std::chrono::nanoseconds time) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(time).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, 60'000));
}

}  // namespace

ControlLinks::ControlLinks(std::string domain, unsigned slot, Listener& listener)
    : rendezvous_(std::move(domain), kControlPurpose), listener_(listener), events_(make_epoll()) {
  rendezvous_.hold(slot);
  epoll_event event{.events = EPOLLIN, .data = {.u32 = kListener}};
  if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, rendezvous_.listener(), &event) != 0) {
    throw util::system_error("epoll of the software NIC", errno);
  }
}

void ControlLinks::want(Link link, const Connection& connection, int operation) const {
  epoll_event event{.events = EPOLLIN, .data = {.u32 = link}};
  if (!connection.waiting.empty()) event.events |= EPOLLOUT;
  // Cannot fail for a descriptor that is open, but for want of memory: then the peer counts as silent.
  (void)::epoll_ctl(events_.get(), operation, connection.socket.get(), &event);
}

ControlLinks::Link ControlLinks::add(util::UniqueFd socket) {
  const Link link = ++last_;
  Connection& connection = connections_[link];
  connection.socket = std::move(socket);
  want(link, connection, EPOLL_CTL_ADD);
  return link;
}

Rendezvous::Outcome ControlLinks::open(unsigned slot, Link& link) {
  util::UniqueFd socket;
  const auto outcome = rendezvous_.connect(slot, socket);
  if (outcome == Rendezvous::Outcome::kDone) link = add(std::move(socket));
  return outcome;
}

void ControlLinks::send(Link link, std::span<const std::byte> message) {
  const auto found = connections_.find(link);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  if (connection.waiting.size() >= kMostWaiting) {
    util::log::once("control backlog", "another process takes no messages any more; the connection to it is cut");
    ::shutdown(connection.socket.get(), SHUT_RDWR);  // its end shows in attend()
    return;
  }
  connection.waiting.emplace_back(message.begin(), message.end());
  if (connection.waiting.size() == 1) flush(link, connection);
}

void ControlLinks::flush(Link link, Connection& connection) {
  bool taken = true;
  while (taken && !connection.waiting.empty()) {
    const auto& message = connection.waiting.front();
    const ssize_t sent = ::send(connection.socket.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    taken = sent >= 0 || (errno != EAGAIN && errno != EINTR);  // what a dead peer does not take is lost
    if (taken) connection.waiting.pop_front();
  }
  want(link, connection, EPOLL_CTL_MOD);
}

void ControlLinks::close(Link link) {
  const auto found = connections_.find(link);
  if (found == connections_.end()) return;
  // A forked child may hold a copy of the socket, so the epoll would not forget it by itself.
  (void)::epoll_ctl(events_.get(), EPOLL_CTL_DEL, found->second.socket.get(), nullptr);
  connections_.erase(found);
}

void ControlLinks::end(Link link) {
  close(link);
  listener_.on_end(link);
}

void ControlLinks::accept() {
  while (util::UniqueFd socket = rendezvous_.accept()) add(std::move(socket));
}

void ControlLinks::read(Link link) {
  std::array<std::byte, kMostBytes> bytes;
  for (unsigned i = 0; i < kMostAtOnce; ++i) {
    const auto found = connections_.find(link);  // anew each time: the listener may have closed it
    if (found == connections_.end()) return;
    const ssize_t got = ::recv(found->second.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0 || static_cast<std::size_t>(got) > bytes.size()) return end(link);
    listener_.on_message(link, std::span(bytes).first(static_cast<std::size_t>(got)));
  }
}

bool ControlLinks::attend(std::chrono::nanoseconds most) {
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(events_.get(), events.data(), events.size(), to_milliseconds(most));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const Link link = event.data.u32;
    if (link == kListener) {
      accept();
      continue;
    }
    const auto found = connections_.find(link);
    if (found != connections_.end() && (event.events & EPOLLOUT) != 0) flush(link, found->second);
    read(link);
  }
  return count > 0;
}

}  // namespace marrow::cx7
