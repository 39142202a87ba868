// SPDX-License-Identifier: Apache-2.0
// The nouns of the four verbs (send_queue.h): what is asked for, where it goes, what comes back. Stop 1 of 9.
#pragma once

#include <cstdint>

#include "marrow/gda/handles.h"
#include "marrow/gda/policy.h"

namespace marrow::gda {

/// An RDMA write or read of `bytes` in [0, 2^31). With Payload::kInline a write loads `from` itself.
struct Put {
  Remote to;
  Local from;
  std::uint32_t bytes = 0;
};
struct Get {
  Remote from;
  Local to;
  std::uint32_t bytes = 0;
};

/// An 8-byte atomic at the peer. The old value arrives at `result`, which needs an mkey with local write.
struct FetchAdd {
  Remote at;
  Local result;
  std::uint64_t add = 0;
};
struct CompareSwap {
  Remote at;
  Local result;
  std::uint64_t compare = 0;
  std::uint64_t swap = 0;
};

/// Atomics of 4 or 8 bytes that touch some bits (wire/masked_atomic.h). The old value arrives at `result`: of 4 bytes
/// big-endian.
struct MaskedAdd {
  Remote at;
  Local result;
  std::uint64_t add = 0;
  std::uint64_t boundary = 0;  // a bit where a carry stops: ~0 is xor
};
struct MaskedSwap {
  Remote at;
  Local result;
  std::uint64_t compare = 0;
  std::uint64_t compare_mask = 0;  // 0: always swaps
  std::uint64_t swap = 0;
  std::uint64_t swap_mask = ~0ull;
};

/// Room for `wqes` WQEs of `wqebbs` WQEBBs each: 1, but for long inline writes and DC (write_wqebbs(),
/// atomic_wqebbs()). With `second` each is followed by one of so many WQEBBs, as a put by its signal.
struct Room {
  std::uint32_t wqes = 1;
  std::uint32_t wqebbs = 1;
  std::uint32_t second = 0;

  [[nodiscard]] MARROW_HD constexpr std::uint64_t total() const { return std::uint64_t{wqes} * (wqebbs + second); }
};

/// WQEBBs of what a policy's write() and atomics post.
template <PolicyType P>
MARROW_HD constexpr std::uint32_t write_wqebbs(std::uint32_t bytes) {
  const std::uint32_t data = P::payload == Payload::kInline ? wire::inline_ds(bytes) : (bytes == 0 ? 0u : 1u);
  return wire::wqebbs_of(2 + kAvDs<P> + data);
}
template <PolicyType P>
MARROW_HD constexpr std::uint32_t inline_wqebbs(std::uint32_t bytes) {
  return bytes <= P::max_inline_bytes ? wire::wqebbs_of(2 + kAvDs<P> + wire::inline_ds(bytes)) : 0;
}
template <PolicyType P>
MARROW_HD constexpr std::uint32_t atomic_wqebbs() {
  return wire::wqebbs_of(4 + kAvDs<P>);
}

/// The place of one WQE. Built by Slots; used once.
struct Slot {
  std::uint64_t wqebb = 0;
  std::uint32_t wqebbs = 0;  // 0: of a failed reservation, nothing will be stored
  wire::Completion completion = wire::Completion::kOnError;
};

/// Reserved WQEBBs, not yet visible to the NIC.
struct [[nodiscard]] Slots {
  std::uint64_t first = 0;
  Room room{0, 0};
  Status status = Status::kOk;
  Signal signal = Signal::kLast;

  [[nodiscard]] MARROW_HD bool ok() const { return status == Status::kOk; }
  [[nodiscard]] MARROW_HD std::uint64_t end() const { return first + room.total(); }
  /// The i-th of room.wqes; one beyond them makes its WQE a kBadRequest.
  [[nodiscard]] MARROW_HD Slot operator[](std::uint32_t i) const {
    const bool asks = signal == Signal::kEvery || (signal == Signal::kLast && room.second == 0 && i + 1 == room.wqes);
    return {first + std::uint64_t{i} * (room.wqebbs + room.second), !ok() ? 0 : (i < room.wqes ? room.wqebbs : ~0u),
            asks ? wire::Completion::kAlways : wire::Completion::kOnError};
  }
  /// The one behind the i-th.
  [[nodiscard]] MARROW_HD Slot second(std::uint32_t i) const {
    const bool asks = signal == Signal::kEvery || (signal == Signal::kLast && i + 1 == room.wqes);
    return {first + std::uint64_t{i} * (room.wqebbs + room.second) + room.wqebbs,
            !ok() ? 0 : (i < room.wqes && room.second != 0 ? room.second : ~0u),
            asks ? wire::Completion::kAlways : wire::Completion::kOnError};
  }
  /// The same slots, the last of which asks for a CQE whatever Signal::kSparse says.
  [[nodiscard]] MARROW_HD Slots asking() const {
    Slots s = *this;
    if (s.signal == Signal::kNever) s.signal = Signal::kLast;
    return s;
  }
  [[nodiscard]] MARROW_HD std::uint64_t last_wqe() const {
    return end() - (room.second != 0 ? room.second : room.wqebbs);
  }
};

/// Signal::kSparse asks where a reservation reaches into the next half of the ring.
MARROW_HD constexpr Signal signal_of(Signal policy, std::uint64_t first, std::uint64_t need, std::uint32_t sq_wqebbs) {
  if (policy != Signal::kSparse) return policy;
  const std::uint32_t half = sq_wqebbs > 1 ? sq_wqebbs / 2 : 1;  // a power of two, so no division
  return (first ^ (first + need)) >= half ? Signal::kLast : Signal::kNever;
}

/// What submit() promises and wait() waits for: the first WQEBB of the signalled WQE, and the WQEBB behind it.
struct [[nodiscard]] Ticket {
  std::uint64_t signalled = 0;
  std::uint64_t end = 0;
  Status status = Status::kOk;
};

/// Everything for a post-mortem, as plain data that a kernel can hand to the host; format_dump() makes it text.
struct QueueDump {
  Qp qp;
  QpIndices counters;
  std::uint64_t reserved = 0;
  std::uint32_t dbrec_raw = 0;                        // as in memory: big-endian
  std::uint32_t cqe_words[wire::kCqeBytes / 4] = {};  // kRing: the next entry; kCollapsed: the last CQE
};

}  // namespace marrow::gda
