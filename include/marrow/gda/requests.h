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

/// Room for `wqes` WQEs of `wqebbs` WQEBBs each: 1, but for long inline writes (inline_write_wqebbs()).
struct Room {
  std::uint32_t wqes = 1;
  std::uint32_t wqebbs = 1;
};

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
  [[nodiscard]] MARROW_HD std::uint64_t end() const { return first + std::uint64_t{room.wqes} * room.wqebbs; }
  /// The i-th of room.wqes; one beyond them makes its WQE a kBadRequest.
  [[nodiscard]] MARROW_HD Slot operator[](std::uint32_t i) const {
    const bool asks = signal == Signal::kEvery || i + 1 == room.wqes;
    return {first + std::uint64_t{i} * room.wqebbs, !ok() ? 0 : (i < room.wqes ? room.wqebbs : ~0u),
            asks ? wire::Completion::kAlways : wire::Completion::kOnError};
  }
};

/// What submit() promises and wait() waits for: the first WQEBB of the signalled WQE, and the WQEBB behind it.
struct [[nodiscard]] Ticket {
  std::uint64_t signalled = 0;
  std::uint64_t end = 0;
  Status status = Status::kOk;
};

/// Everything for a post-mortem, as plain data that a kernel can hand to the host; format_dump() makes it text.
struct QueueDump {
  Qp qp;
  QpCounters counters;
  std::uint64_t reserved = 0;
  std::uint32_t dbrec_raw = 0;                        // as in memory: big-endian
  std::uint32_t cqe_words[wire::kCqeBytes / 4] = {};  // kRing: the next entry; kCollapsed: the last CQE
};

}  // namespace marrow::gda
