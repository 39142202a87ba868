// SPDX-License-Identifier: Apache-2.0
// Connections between the control planes of two processes: set-up only, no message of the application passes here.
// Messages are short, arrive whole and in order, and wait here while the peer is slow. The peer's death is the end of
// the connection. Everything is the caller's: who waits for a peer must go on attending, or two that wait for each
// other would wait for ever.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cx7/fabric/rendezvous.h"
#include "util/fd.h"

namespace marrow::cx7 {

inline constexpr char kControlPurpose[] = "control";  // NOLINT(modernize-avoid-c-arrays): of the sockets' names

/// Not thread-safe, fd() excepted. After fork() the child may only destroy it.
class ControlLinks {
 public:
  using Link = std::uint32_t;  // a number that no other connection of this process ever gets
  static constexpr std::size_t kMostBytes = 2048;

  /// Called from attend(); each may send, open and close.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_message(Link link, std::span<const std::byte> message) = 0;
    /// The peer is gone, or said what is no message of ours.
    virtual void on_end(Link link) = 0;
  };

  /// Listens by the name of a slot that this process holds. Throws util::Error.
  ControlLinks(std::string domain, unsigned slot, Listener& listener);
  ControlLinks(const ControlLinks&) = delete;
  ControlLinks& operator=(const ControlLinks&) = delete;

  /// A connection to the process that holds `slot`. kBusy: try later.
  Rendezvous::Outcome open(unsigned slot, Link& link);
  /// Never blocks. A link that is gone takes it silently.
  void send(Link link, std::span<const std::byte> message);
  /// on_end() is not called.
  void close(Link link);

  /// Looks after all connections, having waited for the first event up to `most`. False when nothing happened.
  bool attend(std::chrono::nanoseconds most);
  /// Readable when attend() has something to do.
  [[nodiscard]] int fd() const { return events_.get(); }

 private:
  struct Connection {
    util::UniqueFd socket;
    std::deque<std::vector<std::byte>> waiting;
  };

  Link add(util::UniqueFd socket);
  void want(Link link, const Connection& connection, int operation) const;
  void accept();
  void read(Link link);
  void flush(Link link, Connection& connection);
  void end(Link link);

  Rendezvous rendezvous_;
  Listener& listener_;
  util::UniqueFd events_;  // epoll: the listener as link 0, and every connection
  std::unordered_map<Link, Connection> connections_;
  Link last_ = 0;
};

/// Sends `question` to every process of the domain but the one in `own` slot (256: to all), and calls `hear` with the
/// first message that each says within `patience`; others are passed over. For whoever has no links of its own.
void ask_everybody(const std::string& domain, unsigned own, std::span<const std::byte> question,
                   std::chrono::nanoseconds patience, const std::function<void(std::span<const std::byte>)>& hear);

}  // namespace marrow::cx7
