// SPDX-License-Identifier: Apache-2.0
// See fabric.h. Here is what happens seldom: links to other processes, sleeping and waking.
#include "cx7/fabric/fabric.h"

#include <atomic>
#include <utility>

#include "cx7/fabric/peer_links.h"

namespace marrow::cx7 {
namespace {

enum class Wakefulness : std::uint8_t { kAwake, kAsleep, kWoken };

}  // namespace

struct Fabric::Impl {
  explicit Impl(std::string domain) : peers(std::move(domain)) {}

  PeerLinks peers;
  RingMemory local = RingMemory::make_private(kLocalRingBytes);
  std::atomic<Wakefulness> wakefulness{Wakefulness::kAwake};
};

Fabric::Fabric(std::string domain, const LinkOptions&)
    : impl_(std::make_unique<Impl>(std::move(domain))),
      slot_(impl_->peers.slot()),
      local_out_(impl_->local.view()),
      local_in_(impl_->local.view()),
      incoming_{&local_in_} {}

// Says no word to anybody: safe in a forked child, whose parent still holds the same sockets.
Fabric::~Fabric() = default;

Reservation Fabric::reserve_at_peer(unsigned slot, std::uint32_t payload_bytes) {
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

void Fabric::commit_at_peer(unsigned slot) {
  impl_->peers.commit(slot);
  unannounced_ = true;
}

void Fabric::wake_peers() {
  unannounced_ = false;
  impl_->peers.wake_peers();
}

void Fabric::attend(std::chrono::nanoseconds most) {
  if (unannounced_) wake_peers();
  if (!impl_->peers.attend(most)) return;
  incoming_.assign(1, &local_in_);
  for (const auto& link : impl_->peers.incoming()) incoming_.push_back(&link->ring);
}

void Fabric::maintain() {
  attend(std::chrono::nanoseconds{0});
}

void Fabric::watch(int fd) {
  impl_->peers.watch(fd);
}

void Fabric::watch_control(int fd) {
  impl_->peers.watch_control(fd);
}

void Fabric::sleep(std::chrono::nanoseconds most) {
  if (unannounced_) wake_peers();
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
