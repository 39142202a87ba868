// SPDX-License-Identifier: Apache-2.0
// How processes find each other: each holds an abstract SOCK_SEQPACKET listener named by its slot. Who wants to send
// connects and hands over the memfd of its ring; afterwards the socket carries wake-ups and tells of the other's death.
// A second name with the same slot, for another purpose, is control_links.h's.
// Facts: unix(7) (abstract names, SCM_RIGHTS, SO_PEERCRED).
#pragma once

#include <cstdint>
#include <string>

#include "util/fd.h"

namespace marrow::cx7 {

/// Abstract names of one user's processes in one domain.
class Rendezvous {
 public:
  /// Throws util::Error (usage) when `domain` is too long for a socket name. `purpose` tells several names of a slot
  /// apart.
  explicit Rendezvous(std::string domain, std::string purpose = {});

  /// Binds and listens on the first free slot below `slots`; throws util::Error when there is none.
  unsigned claim(unsigned slots);
  /// The same for a slot that this process holds by another name.
  void hold(unsigned slot);
  [[nodiscard]] int listener() const { return listener_.get(); }

  enum class Outcome : std::uint8_t { kDone, kBusy, kNobody };
  /// Connects to the process that holds `to` and hands it the ring `ring_fd`; `socket` gets the connection.
  /// kBusy: it does not accept fast enough, try later. Non-blocking.
  Outcome connect(unsigned to, int ring_fd, util::UniqueFd& socket) const;
  /// The same without a word: what is said on this connection is the caller's.
  Outcome connect(unsigned to, util::UniqueFd& socket) const;

  /// The next connection to our listener, or an empty descriptor. Strangers are turned away.
  [[nodiscard]] util::UniqueFd accept() const;

 private:
  [[nodiscard]] std::string name_of(unsigned slot) const;
  bool bind(unsigned slot) const;
  void listen() const;

  std::string domain_;
  std::string purpose_;
  unsigned slot_ = 0;
  util::UniqueFd listener_;
};

/// What the peer said on a fresh connection: the first message, read without blocking.
struct Introduction {
  enum class State : std::uint8_t { kNotYet, kSound, kRefused };
  State state = State::kNotYet;
  unsigned slot = 0;
  util::UniqueFd ring_fd;
};
[[nodiscard]] Introduction read_introduction(int socket);

}  // namespace marrow::cx7
