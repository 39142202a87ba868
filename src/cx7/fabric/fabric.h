// SPDX-License-Identifier: Apache-2.0
// Links between devices: the engine reserves room for a packet, fills it in place, commits it; the far engine reads it
// where it lies. One SPSC byte ring for traffic inside the process, one for each peer process and direction.
// A process owns a slot, held by binding an abstract unix socket name: the kernel frees it with the process, so a
// killed process leaves nothing behind, and its peers see the hang-up.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cx7/fabric/packet.h"

namespace marrow::cx7 {

/// Room in a link: fill `packet` and its payload, then Fabric::commit().
struct Reservation {
  enum class State : std::uint8_t {
    kRoom,  // packet is valid
    kFull,  // the peer is slower: try again in a later step
    kLost,  // no such process, or it died: the packet would go nowhere
  };
  State state = State::kLost;
  Packet* packet = nullptr;
};

/// Only the engine thread calls this, wake() excepted.
class Fabric {
 public:
  static constexpr unsigned kMaxSlots = 255;

  /// Claims the first free slot of `domain`. Processes of one user, one network namespace and one domain see each
  /// other. Throws util::Error when all slots are taken.
  explicit Fabric(std::string domain);
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  [[nodiscard]] unsigned slot() const;

  /// Room for a packet with up to `payload_bytes` (<= kMaxPayload) towards the process `slot`. Opens the link on first
  /// use (system calls then; none afterwards). At most one reservation at a time; an uncommitted one is simply dropped.
  Reservation reserve(unsigned slot, std::uint32_t payload_bytes);
  /// Publishes the reserved packet; its payload_bytes may be smaller than what was reserved. Wakes a sleeping peer.
  void commit(unsigned slot);

  /// Hands up to `budget` arrived packets to `sink`, own and foreign, oldest first on each link; returns how many.
  unsigned deliver(unsigned budget, const std::function<void(const Packet&)>& sink);

  /// Accepts new peers and notices dead ones. Call about every millisecond; system calls.
  void maintain();

  /// Sleeps until a packet arrives, wake() is called or `most` has passed.
  void sleep(std::chrono::nanoseconds most);
  /// Ends a sleep(), or makes the next one return at once. Any thread.
  void wake();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace marrow::cx7
