// SPDX-License-Identifier: Apache-2.0
// What the device did, stop by stop (5 to 8 of docs/one-message.md), for `marrow trace`. Off: one predictable branch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace marrow::cx7 {

/// One thing the device did. `a`, `b`, `c` by kind; see trace_names.
struct TraceEvent {
  enum class Kind : std::uint8_t {
    kDoorbell,     // a: QPN, b: producer index announced, c: dbrec read
    kFetch,        // a: QPN, b: WQE index, c: opcode << 8 | DS
    kPacketSent,   // a: destination QPN, b: PSN, c: opcode
    kRemoteWrite,  // a: QPN, b: address, c: bytes
    kAckSent,      // a: destination QPN, b: PSN, c: syndrome << 24 | MSN
    kAckReceived,  // a: QPN, b: PSN, c: syndrome
    kCqe,          // a: CQN, b: WQE counter, c: op_own << 8 | syndrome
  };
  Kind kind{};
  std::uint8_t device = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
};

/// The last kEvents events. Written under the engine's lock.
class Trace {
 public:
  static constexpr std::size_t kEvents = 1024;
  void enable(bool on) {
    on_ = on;
    count_ = on ? 0 : count_;
  }
  [[nodiscard]] bool is_on() const { return on_; }
  void add(const TraceEvent& event) { events_[count_++ % kEvents] = event; }
  /// Copies the newest min(count, kEvents, most) events, oldest first; returns how many.
  std::size_t read(TraceEvent* to, std::size_t most) const {
    const std::size_t kept = count_ < kEvents ? count_ : kEvents;
    const std::size_t n = kept < most ? kept : most;
    for (std::size_t i = 0; i < n; ++i) to[i] = events_[(count_ - n + i) % kEvents];
    return n;
  }

 private:
  bool on_ = false;
  std::size_t count_ = 0;
  std::array<TraceEvent, kEvents> events_;
};

}  // namespace marrow::cx7
