// SPDX-License-Identifier: Apache-2.0
// A ring of packets between one producer and one consumer (between stops 6 and 7): the packet is built where it will be
// read, and neither side allocates or calls the system. Records lie contiguous and begin on a cache line; one that
// would cross the end leaves a skip marker and starts anew. The ring may be shared with another process, which may
// write anything into it: cursors of our own side are kept in private memory, and every word read from the ring is
// checked before it is used as a size.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "cx7/fabric/packet.h"

namespace marrow::cx7 {

/// The words that both sides see, each on a line of its own. Cursors count bytes and only grow.
struct RingControl {
  alignas(64) std::atomic<std::uint64_t> head{0};    // the producer's
  alignas(64) std::atomic<std::uint64_t> tail{0};    // the consumer's
  alignas(64) std::atomic<std::uint32_t> asleep{0};  // set by a consumer that wants to be woken, taken by the producer
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "the words are shared between processes");

struct RingView {
  RingControl* control = nullptr;
  std::byte* data = nullptr;  // 64-byte aligned
  std::uint32_t bytes = 0;    // a power of two, at least twice the largest record
};

inline constexpr std::uint32_t kRecordAlign = sizeof(Packet);
inline constexpr std::uint32_t kSkipMarker = 0xffffffff;  // in payload_bytes: the record lies at the ring's start

/// Bytes that a packet takes in a ring.
constexpr std::uint32_t record_bytes(std::uint32_t payload_bytes) {
  return kRecordAlign + ((payload_bytes + kRecordAlign - 1) & ~(kRecordAlign - 1));
}

class RingProducer {
 public:
  RingProducer() = default;
  explicit RingProducer(RingView ring) : ring_(ring) {}

  /// A fresh packet with room for `payload_bytes` (<= kMaxPayload) behind it, or null when the ring is full.
  [[nodiscard]] Packet* reserve(std::uint32_t payload_bytes) {
    const std::uint32_t need = record_bytes(payload_bytes);
    const std::uint32_t at = offset(head_);
    const std::uint32_t to_end = ring_.bytes - at;
    skipped_ = need > to_end ? to_end : 0;
    if (!has_room(skipped_ + need)) return nullptr;
    if (skipped_ != 0) new (ring_.data + at) Packet{.payload_bytes = kSkipMarker};
    reserved_ = need;
    packet_ = new (ring_.data + offset(head_ + skipped_)) Packet{};
    return packet_;
  }

  /// Publishes the reserved packet with the payload_bytes that it now says.
  void commit() {
    head_ += skipped_ + std::min(record_bytes(packet_->payload_bytes), reserved_);
    ring_.control->head.store(head_, std::memory_order_release);
  }

  /// Whether the consumer sleeps; true at most once a sleep. Whoever gets true must wake it. Both sides use a
  /// read-modify-write of `asleep`: whichever is second sees what the first did before.
  [[nodiscard]] bool must_wake() { return ring_.control->asleep.exchange(0, std::memory_order_acq_rel) != 0; }

  /// The consumer's cursor made no sense: the ring cannot be used any more.
  [[nodiscard]] bool corrupt() const { return corrupt_; }

 private:
  [[nodiscard]] std::uint32_t offset(std::uint64_t cursor) const {
    return static_cast<std::uint32_t>(cursor) & (ring_.bytes - 1);
  }
  bool has_room(std::uint32_t bytes) {
    if (head_ + bytes - tail_ <= ring_.bytes) return true;
    const std::uint64_t tail = ring_.control->tail.load(std::memory_order_acquire);
    corrupt_ = corrupt_ || tail - tail_ > head_ - tail_ || tail % kRecordAlign != 0;
    if (corrupt_) return false;
    tail_ = tail;
    return head_ + bytes - tail_ <= ring_.bytes;
  }

  RingView ring_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;  // as last seen
  std::uint32_t skipped_ = 0;
  std::uint32_t reserved_ = 0;
  Packet* packet_ = nullptr;
  bool corrupt_ = false;
};

class RingConsumer {
 public:
  RingConsumer() = default;
  explicit RingConsumer(RingView ring) : ring_(ring) {}

  /// The oldest packet, or null when there is none or the ring is corrupt. It stays until release().
  [[nodiscard]] const Packet* peek() {
    while (tail_ != head_ || refresh()) {
      const std::uint32_t at = static_cast<std::uint32_t>(tail_) & (ring_.bytes - 1);
      const std::uint32_t to_end = ring_.bytes - at;
      const auto* packet = reinterpret_cast<const Packet*>(ring_.data + at);
      const std::uint32_t payload_bytes = *const_cast<const volatile std::uint32_t*>(&packet->payload_bytes);
      const bool skip = payload_bytes == kSkipMarker;
      size_ = skip ? to_end : record_bytes(std::min(payload_bytes, kMaxPayload));
      const bool sound = (skip || payload_bytes <= kMaxPayload) && size_ <= to_end && size_ <= head_ - tail_;
      if (!sound) corrupt_ = true;
      if (corrupt_) return nullptr;
      if (!skip) return packet;
      release();
    }
    return nullptr;
  }

  /// Gives the room of the packet that peek() returned back.
  void release() {
    tail_ += size_;
    ring_.control->tail.store(tail_, std::memory_order_release);
  }

  [[nodiscard]] bool corrupt() const { return corrupt_; }

  /// Asks the producer for a wake-up. Returns false when a packet is there already: then do not sleep.
  [[nodiscard]] bool announce_sleep() {
    ring_.control->asleep.exchange(1, std::memory_order_acq_rel);
    return peek() == nullptr;
  }
  void end_sleep() { ring_.control->asleep.store(0, std::memory_order_relaxed); }

 private:
  bool refresh() {
    if (corrupt_) return false;
    const std::uint64_t head = ring_.control->head.load(std::memory_order_acquire);
    corrupt_ = head - tail_ > ring_.bytes || head % kRecordAlign != 0;
    if (corrupt_) return false;
    head_ = head;
    return head_ != tail_;
  }

  RingView ring_;
  std::uint64_t head_ = 0;  // as last seen
  std::uint64_t tail_ = 0;
  std::uint32_t size_ = 0;
  bool corrupt_ = false;
};

}  // namespace marrow::cx7
