// SPDX-License-Identifier: Apache-2.0
// See fabric.h. Here is what happens seldom: links to other processes, sleeping and waking.
#include "cx7/fabric/fabric.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "cx7/fabric/capture.h"
#include "cx7/fabric/device_faults.h"
#include "cx7/fabric/fault_gate.h"
#include "cx7/fabric/hosts.h"
#include "cx7/fabric/peer_links.h"
#include "cx7/fabric/udp_link.h"
#include "util/clock.h"

namespace marrow::cx7 {
namespace {

constexpr unsigned kNoRoute = ~0u;
constexpr std::uint32_t kNetworkWindow = 128 << 10;  // [guess] half of what a socket's usual buffer holds

enum class Wakefulness : std::uint8_t { kAwake, kAsleep, kWoken };

}  // namespace

struct Fabric::Impl {
  Impl(std::string domain, const LinkOptions& options, LinkCounters* elsewhere)
      : counters(elsewhere == nullptr ? own_counters : *elsewhere), peers(std::move(domain)) {
    if (!options.capture.file.empty()) capture = std::make_unique<Capture>(options.capture);
    const auto any = [&options](bool (*acts)(FaultKind)) {
      return std::ranges::any_of(options.faults.rules, [acts](const FaultRule& rule) { return acts(rule.kind); });
    };
    if (any(acts_in_device)) device_faults = std::make_unique<DeviceFaults>(options.faults, counters);
    if (any([](FaultKind kind) { return !acts_in_device(kind); })) {
      faults = std::make_unique<FaultGate>(options.faults, counters);
    }
    if (options.addresses.empty()) return;
    udp = std::make_unique<UdpLink>(options.addresses, counters);
    peers.watch_network(udp->fd());
  }

  LinkCounters own_counters;
  LinkCounters& counters;
  PeerLinks peers;
  RingMemory local = RingMemory::make_private(kLocalRingBytes);
  std::unique_ptr<UdpLink> udp;  // null: no other hosts
  std::unique_ptr<Capture> capture;
  std::unique_ptr<FaultGate> faults;
  std::unique_ptr<DeviceFaults> device_faults;
  std::atomic<Wakefulness> wakefulness{Wakefulness::kAwake};
};

Fabric::Fabric(std::string domain, const LinkOptions& options)
    : Fabric(std::make_unique<Impl>(std::move(domain), options, nullptr)) {}

Fabric::Fabric(std::string domain, const LinkOptions& options, LinkCounters& counters)
    : Fabric(std::make_unique<Impl>(std::move(domain), options, &counters)) {}

Fabric::Fabric(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)),
      slot_(impl_->peers.slot()),
      express_(impl_->capture || impl_->faults ? kNoRoute : slot_),
      device_faults_(impl_->device_faults.get()),
      beyond_rings_(impl_->udp || impl_->capture || impl_->faults),
      window_(kNetworkWindow),
      local_out_(impl_->local.view()),
      local_in_(impl_->local.view()),
      incoming_{&local_in_} {}

// Says no word to anybody: safe in a forked child, whose parent still holds the same sockets.
Fabric::~Fabric() = default;

Reservation Fabric::reserve_at_host(std::uint8_t host) {
  if (!impl_->udp || address_of_host(host) == 0) return {};
  Packet* const packet = impl_->udp->reserve(host);
  return {packet != nullptr ? Reservation::State::kRoom : Reservation::State::kFull, packet};
}

Reservation Fabric::reserve_at_peer(unsigned route, std::uint32_t payload_bytes) {
  if (!link_is_up_) {
    ++impl_->counters.faults_link_down;
    return {};
  }
  Reservation room;
  if (route == slot_) {
    Packet* const packet = local_out_.reserve(payload_bytes);
    room = {packet != nullptr ? Reservation::State::kRoom : Reservation::State::kFull, packet};
  } else if (route >= kOtherHosts) {
    room = reserve_at_host(static_cast<std::uint8_t>(route - kOtherHosts));
  } else {
    room = reserve_at_slot(route, payload_bytes);
  }
  reserved_ = room.packet;
  return room;
}

Reservation Fabric::reserve_at_slot(unsigned slot, std::uint32_t payload_bytes) {
  if (slot >= kMaxSlots) return {};
  OutgoingLink* link = nullptr;
  const auto opened = impl_->peers.open(slot, link);
  if (opened != PeerLinks::Opened::kYes) {
    return {opened == PeerLinks::Opened::kBusy ? Reservation::State::kFull : Reservation::State::kLost, nullptr};
  }
  Packet* const packet = link->ring.reserve(payload_bytes);
  if (packet != nullptr) return {Reservation::State::kRoom, packet};
  if (!link->ring.corrupt()) return {Reservation::State::kFull, nullptr};
  impl_->peers.lose(slot);
  return {};
}

void Fabric::commit_at_peer(unsigned route) {
  if (impl_->capture) impl_->capture->add(*reserved_);
  if (route == slot_) return local_out_.commit();
  if (route >= kOtherHosts) {
    impl_->udp->commit();
  } else {
    impl_->peers.commit(route);
  }
  unannounced_ = true;
}

void Fabric::announce() {
  impl_->peers.wake_peers();
  if (impl_->udp) impl_->udp->flush();
  unannounced_ = impl_->udp && impl_->udp->has_unsent();
}

LinkCounters Fabric::counters() const {
  return impl_->counters;
}

unsigned Fabric::deliver_all(unsigned budget, std::chrono::nanoseconds now, PacketSink sink) {
  flush_capture();
  unsigned done = 0;
  if (impl_->faults) {
    done += impl_->faults->release(now, sink);
    link_is_up_ = impl_->faults->link_is_up(now);
  }
  if (impl_->udp) done += take_network(budget, now, sink);
  return done + take_rings(budget, now, sink);
}

void Fabric::flush_capture() {
  if (impl_->capture) impl_->capture->flush();
}

void Fabric::admit(const Packet& packet, std::chrono::nanoseconds now, PacketSink sink) {
  if (!impl_->faults) return sink(packet);
  impl_->faults->admit(packet, now, sink);
}

unsigned Fabric::take_rings(unsigned budget, std::chrono::nanoseconds now, PacketSink sink) {
  unsigned done = 0;
  for (std::size_t turn = 0; turn < incoming_.size() && done < budget; ++turn) {
    first_ = first_ + 1 < incoming_.size() ? first_ + 1 : 0;
    RingConsumer& ring = *incoming_[first_];
    for (const Packet* packet; done < budget && (packet = ring.peek()) != nullptr; ++done) {
      // The ring is mapped for writing, and this packet is ours until it is released.
      if (packet->from_device == kForwarded) {
        const_cast<Packet*>(packet)->from_device = find_host(packet->from_host);
      }
      if (impl_->capture && &ring != &local_in_) impl_->capture->add(*packet);  // own ones: when they left
      admit(*packet, now, sink);
      ring.release();
    }
  }
  return done;
}

unsigned Fabric::take_network(unsigned budget, std::chrono::nanoseconds now, PacketSink sink) {
  unsigned done = 0;
  for (std::span<Packet* const> batch; done < budget; done += static_cast<unsigned>(batch.size())) {
    batch = impl_->udp->receive(budget - done);
    if (batch.empty()) break;
    for (const Packet* packet : batch) {
      if ((packet->dest_qpn >> 16) == slot_) {
        if (impl_->capture) impl_->capture->add(*packet);
        admit(*packet, now, sink);
      } else if (forward(*packet)) {
        ++impl_->counters.network_forwarded;
      }
    }
  }
  return done;
}

/// To the process of this host that the number of the queue pair names. What finds no room there is lost, as on a
/// network.
bool Fabric::forward(const Packet& packet) {
  const unsigned slot = packet.dest_qpn >> 16;
  const Reservation room = reserve_at_slot(slot, packet.payload_bytes);
  if (room.state != Reservation::State::kRoom) return false;
  *room.packet = packet;
  room.packet->from_device = kForwarded;
  std::copy_n(packet.payload(), packet.payload_bytes, room.packet->payload());
  impl_->peers.commit(slot);
  unannounced_ = true;
  return true;
}

void Fabric::attend(std::chrono::nanoseconds most) {
  announce_committed();
  if (!impl_->peers.attend(most)) return;
  incoming_.assign(1, &local_in_);
  for (const auto& link : impl_->peers.incoming()) incoming_.push_back(&link->ring);
}

void Fabric::maintain() {
  attend(std::chrono::nanoseconds{0});
  if (impl_->udp) impl_->udp->maintain(util::now());
}

void Fabric::watch(int fd) {
  impl_->peers.watch(fd);
}

void Fabric::watch_control(int fd) {
  impl_->peers.watch_control(fd);
}

void Fabric::sleep(std::chrono::nanoseconds most) {
  announce_committed();
  flush_capture();
  if (impl_->faults) most = std::min(most, impl_->faults->next_due(util::now()));
  auto awake = Wakefulness::kAwake;
  if (!impl_->wakefulness.compare_exchange_strong(awake, Wakefulness::kAsleep)) {
    impl_->wakefulness.store(Wakefulness::kAwake);
    return;
  }
  bool quiet = true;
  for (RingConsumer* ring : incoming_) quiet = ring->announce_sleep() && quiet;
  if (quiet) attend(most);
  for (RingConsumer* ring : incoming_) ring->end_sleep();
  impl_->wakefulness.store(Wakefulness::kAwake);
}

void Fabric::wake() {
  if (impl_->wakefulness.exchange(Wakefulness::kWoken) == Wakefulness::kAsleep) impl_->peers.interrupt();
}

}  // namespace marrow::cx7
