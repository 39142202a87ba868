// SPDX-License-Identifier: Apache-2.0
// The links of a process with other processes, and the one place where the fabric waits. A link from A to B is A's ring
// and A's connection; B opens its own towards A. Peer death is the hang-up of the socket: what had arrived is still
// delivered, then the link goes.
#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cx7/fabric/packet_ring.h"
#include "cx7/fabric/rendezvous.h"
#include "cx7/fabric/ring_memory.h"
#include "util/fd.h"

namespace marrow::cx7 {

struct OutgoingLink {
  RingMemory memory;
  RingProducer ring;
  util::UniqueFd socket;
  bool unannounced = false;  // committed since the peer was last looked after
};

struct IncomingLink {
  unsigned slot = 0;  // of the peer
  RingMemory memory;
  RingConsumer ring;
  util::UniqueFd socket;
  bool hung_up = false;
};

class PeerLinks {
 public:
  static constexpr unsigned kSlots = 255;

  /// Throws util::Error, see Rendezvous::claim().
  explicit PeerLinks(std::string domain);

  [[nodiscard]] unsigned slot() const { return slot_; }

  enum class Opened : std::uint8_t { kYes, kBusy, kNobody };
  /// The link towards `slot`, opened if it is time to try; `link` is set with kYes.
  Opened open(unsigned slot, OutgoingLink*& link);
  /// Drops a link whose peer is gone; open() tries again after a pause.
  void lose(unsigned slot);
  /// Publishes the packet reserved in the link towards `slot`.
  void commit(unsigned slot);
  /// Wakes the peers that sleep and have got something since.
  void wake_peers();

  /// Looks after all sockets, having waited for the first event up to `most`.
  /// Returns true when incoming() is not what it was.
  bool attend(std::chrono::nanoseconds most);
  /// A readable `fd` ends the waiting too; -1 for none.
  void watch(int fd) { watched_ = fd; }
  /// The same for another one, for good.
  void watch_control(int fd) { control_ = fd; }
  /// And for the network's.
  void watch_network(int fd) { network_ = fd; }
  /// Makes a waiting attend() return. Any thread.
  void interrupt();

  [[nodiscard]] const std::vector<std::unique_ptr<IncomingLink>>& incoming() const { return incoming_; }

 private:
  using Time = std::chrono::nanoseconds;
  struct Newcomer {
    util::UniqueFd socket;
    Time since{0};
  };

  void collect();
  void look_after_incoming(const pollfd* polled);
  void look_after_outgoing(const pollfd* polled);
  bool welcome();
  bool introduce(Newcomer& newcomer);
  bool sweep();

  Rendezvous rendezvous_;
  unsigned slot_;
  util::UniqueFd interrupt_;
  int watched_ = -1;
  int control_ = -1;
  int network_ = -1;
  Time now_;
  std::array<std::unique_ptr<OutgoingLink>, kSlots> outgoing_;
  std::array<Time, kSlots> retry_at_{};
  std::vector<unsigned> open_slots_;  // those of outgoing_ that are set
  std::vector<unsigned> unannounced_;
  std::vector<Newcomer> newcomers_;
  std::vector<std::unique_ptr<IncomingLink>> incoming_;
  std::vector<pollfd> polled_;
};

}  // namespace marrow::cx7
