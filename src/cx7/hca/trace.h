// SPDX-License-Identifier: Apache-2.0
// What the device did, stop by stop (5 to 8 of docs/one-message.md), for `marrow trace` and `marrow sim --trace`. Off:
// one predictable branch.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace marrow::cx7 {

/// One thing the device did. `a`, `b`, `c` by kind; see trace_names.
struct TraceEvent {
  enum class Kind : std::uint8_t {
    kDoorbell,        // a: QPN, b: producer index announced, c: dbrec read
    kFetch,           // a: QPN, b: WQE index, c: first PSN << 32 | opcode << 8 | DS
    kPacketSent,      // a: destination QPN, b: PSN, c: opcode
    kRemoteWrite,     // a: QPN, b: address, c: bytes
    kAckSent,         // a: destination QPN, b: PSN, c: syndrome << 24 | MSN; read and atomic responses too
    kAckReceived,     // a: QPN, b: PSN, c: syndrome
    kCqe,             // a: CQN, b: WQE counter, c: op_own << 8 | syndrome
    kPacketReceived,  // a: QPN, b: PSN, c: opcode; before it is looked at
    kRetired,         // a: QPN, b: WQE index, c: syndrome
  };
  Kind kind{};
  std::uint8_t device = 0;
  std::uint8_t opcode = 0;  // BTH opcode of a packet that was sent or received
  std::uint8_t peer = 0;    // device at the packet's other end, as routed here
  std::uint32_t qpn = 0;    // of the queue pair of `device` that it is about
  std::uint64_t time_ns = 0;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
};

/// How many events were recorded; the newest of them are kept.
struct TraceRing {
  std::atomic<std::uint64_t> count{0};
};

/// The last kEvents events, or as many as fit where they are kept. Written under the engine's lock.
class Trace {
 public:
  static constexpr std::size_t kEvents = 1024;
  using Clock = std::uint64_t (*)();  // nanoseconds

  void enable(bool on) {
    on_ = on;
    if (on) ring_->count.store(0, std::memory_order_relaxed);
  }
  /// From now on for good in memory that somebody else reads, with times of its own: a step's are too coarse there.
  void record_to(TraceRing& ring, TraceEvent* events, std::size_t size, Clock clock) {
    ring_ = &ring;
    events_ = events;
    size_ = size;
    clock_ = clock;
    on_ = size != 0;
  }
  [[nodiscard]] bool is_elsewhere() const { return ring_ != &own_ring_; }
  [[nodiscard]] bool is_on() const { return on_; }
  void add(TraceEvent event) {
    if (clock_ != nullptr) event.time_ns = clock_();
    const std::uint64_t at = ring_->count.load(std::memory_order_relaxed);
    events_[at % size_] = event;
    ring_->count.store(at + 1, std::memory_order_release);
  }
  /// Copies the newest min(count, kEvents, most) events, oldest first; returns how many.
  std::size_t read(TraceEvent* to, std::size_t most) const {
    const std::uint64_t count = ring_->count.load(std::memory_order_relaxed);
    const std::size_t kept = count < size_ ? count : size_;
    const std::size_t n = kept < most ? kept : most;
    for (std::size_t i = 0; i < n; ++i) to[i] = events_[(count - n + i) % size_];
    return n;
  }

 private:
  bool on_ = false;
  Clock clock_ = nullptr;
  TraceRing own_ring_;
  std::array<TraceEvent, kEvents> own_events_;
  TraceRing* ring_ = &own_ring_;
  TraceEvent* events_ = own_events_.data();
  std::size_t size_ = kEvents;
};

}  // namespace marrow::cx7
