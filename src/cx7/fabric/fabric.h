// SPDX-License-Identifier: Apache-2.0
// Links between devices, in one process, on one host and between hosts: the engine reserves room for a packet, fills it
// in place, commits it; the far engine reads it where it lies. One SPSC byte ring for traffic inside the process, one
// for each peer process and direction; UDP to other hosts (udp_link.h). A process owns a slot, held by binding an
// abstract unix socket name: the kernel frees it with the process, so a killed process leaves nothing behind, and its
// peers see the hang-up.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "cx7/fabric/link_counters.h"
#include "cx7/fabric/link_options.h"
#include "cx7/fabric/packet.h"
#include "cx7/fabric/packet_ring.h"

namespace marrow::cx7 {

class DeviceFaults;

/// Who gets packets, where templates do not reach.
struct PacketSink {
  void* object = nullptr;
  void (*call)(void* object, const Packet& packet) = nullptr;
  void operator()(const Packet& packet) const { call(object, packet); }
};

/// Room in a link: fill `packet` and its payload, then Fabric::commit().
struct Reservation {
  enum class State : std::uint8_t {
    kRoom,  // packet is valid: a fresh header, nothing set
    kFull,  // the peer is slower: try again in a later step
    kLost,  // no such process, or it died: the packet would go nowhere
  };
  State state = State::kLost;
  Packet* packet = nullptr;
};

/// Only the engine thread calls this, wake() excepted. After fork() the child may only destroy it, and should: a child
/// that keeps the descriptors keeps the slot, and hides the parent's death from its peers.
class Fabric {
 public:
  static constexpr unsigned kMaxSlots = 255;
  static constexpr unsigned kOtherHosts = 256;  // plus another host's number (hosts.h): the route to that host

  /// Claims the first free slot of `domain`. Processes of one user, one network namespace and one domain see each
  /// other. Throws util::Error when all slots are taken.
  explicit Fabric(std::string domain, const LinkOptions& options = {});
  /// The same that counts in `counters`, which outlive it.
  Fabric(std::string domain, const LinkOptions& options, LinkCounters& counters);
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  [[nodiscard]] unsigned slot() const { return slot_; }

  /// Room for a packet with up to `payload_bytes` (<= kMaxPayload) towards the process or host `route`. Opens the link
  /// on first use (system calls then; none afterwards). At most one reservation at a time; an uncommitted one is simply
  /// dropped.
  Reservation reserve(unsigned route, std::uint32_t payload_bytes) {
    if (route != express_) return reserve_at_peer(route, payload_bytes);
    Packet* const packet = local_out_.reserve(payload_bytes);
    return {packet != nullptr ? Reservation::State::kRoom : Reservation::State::kFull, packet};
  }

  /// Publishes the reserved packet; its payload_bytes may be smaller than what was reserved. A peer that is awake sees
  /// it at once; one that sleeps is woken by the next deliver(), maintain() or sleep(), so that a burst costs one look.
  void commit(unsigned route) {
    if (route != express_) return commit_at_peer(route);
    local_out_.commit();
  }

  /// What is committed and not yet told to peers that sleep, or not yet on the network, is then.
  void announce_committed() {
    if (unannounced_) announce();
  }

  /// Hands up to `budget` arrived packets to `sink(const Packet&)`, own and foreign, oldest first on each link; returns
  /// how many. Links take turns in being first. The sink may reserve and commit.
  /// `now` is the caller's time: faults that delay go by it.
  template <class Sink>
  unsigned deliver(unsigned budget, std::chrono::nanoseconds now, Sink&& sink) {
    announce_committed();
    if (beyond_rings_) {
      return deliver_all(budget, now, {&sink, [](void* to, const Packet& packet) {
                                         (*static_cast<std::remove_reference_t<Sink>*>(to))(packet);
                                       }});
    }
    unsigned done = 0;
    const std::size_t links = incoming_.size();
    first_ = first_ + 1 < links ? first_ + 1 : 0;
    for (std::size_t turn = 0, link = first_; turn < links && done < budget; ++turn) {
      RingConsumer& ring = *incoming_[link];
      for (const Packet* packet; done < budget && (packet = ring.peek()) != nullptr; ++done) {
        sink(*packet);
        ring.release();
      }
      link = link + 1 < links ? link + 1 : 0;
    }
    return done;
  }

  /// How many bytes of requests, each packet counted as 512 at least, may be on the way to `route` unacknowledged: what
  /// lies on a network may be lost for want of buffers, where a ring says that it is full.
  [[nodiscard]] std::uint32_t window_bytes(unsigned route) const { return route < kOtherHosts ? UINT32_MAX : window_; }
  [[nodiscard]] LinkCounters counters() const;
  /// False while a fault keeps the link down: nothing leaves, nothing arrives.
  [[nodiscard]] bool link_is_up() const { return link_is_up_; }
  /// Null where no fault of the device itself was asked for.
  [[nodiscard]] DeviceFaults* device_faults() const { return device_faults_; }
  /// Writes what a capture has so far. The engine's lock is held, or the engine stands.
  void flush_capture();

  /// Accepts new peers, notices dead ones, lets lost links try again. Call about every millisecond; system calls.
  void maintain();

  /// From now on sleep() also ends when `fd` is readable; -1 for none. It is the caller's, and only looked at.
  void watch(int fd);
  /// The same for a second one, before the first sleep() and for good.
  void watch_control(int fd);
  /// Sleeps until a packet arrives, wake() is called or `most` has passed.
  void sleep(std::chrono::nanoseconds most);
  /// Ends a sleep(), or makes the next one return at once. Any thread.
  void wake();

 private:
  struct Impl;
  explicit Fabric(std::unique_ptr<Impl> impl);
  Reservation reserve_at_peer(unsigned route, std::uint32_t payload_bytes);
  void commit_at_peer(unsigned route);
  Reservation reserve_at_slot(unsigned slot, std::uint32_t payload_bytes);
  Reservation reserve_at_host(std::uint8_t host);
  void announce();
  void admit(const Packet& packet, std::chrono::nanoseconds now, PacketSink sink);
  unsigned deliver_all(unsigned budget, std::chrono::nanoseconds now, PacketSink sink);
  unsigned take_rings(unsigned budget, std::chrono::nanoseconds now, PacketSink sink);
  unsigned take_network(unsigned budget, std::chrono::nanoseconds now, PacketSink sink);
  bool forward(const Packet& packet);
  void attend(std::chrono::nanoseconds most);

  std::unique_ptr<Impl> impl_;
  unsigned slot_ = 0;
  unsigned express_ = 0;  // the own slot, or no route where packets to it are looked at
  bool link_is_up_ = true;
  DeviceFaults* device_faults_ = nullptr;
  Packet* reserved_ = nullptr;  // where packets are looked at before they leave
  bool unannounced_ = false;    // committed to peers that may sleep, or to the network
  bool beyond_rings_ = false;   // there is more to look after than rings
  std::uint32_t window_ = 0;
  std::size_t first_ = 0;
  RingProducer local_out_;
  RingConsumer local_in_;
  std::vector<RingConsumer*> incoming_;  // local_in_ and those of the peers
};

}  // namespace marrow::cx7
