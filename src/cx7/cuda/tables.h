// SPDX-License-Identifier: Apache-2.0
// What the host and the engine's GPU threads share: the firmware's tables as the GPU reads them, and each side's marks.
// The host writes the tables and bumps `generation`; each warp then lets go of what it knows, reads them anew and says
// so. All pointers are valid on the GPU. Numbers index tables by their low 16 bits; `device` is 0 or 1.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marrow::cx7::cuda {

inline constexpr std::uint32_t kDevices = 2;
inline constexpr std::uint32_t kNumbers = 1u << 16;  // of keys and QPs of one device
inline constexpr std::uint32_t kLanes = 32;
inline constexpr std::uint32_t kWarps = 64;
inline constexpr std::uint32_t kWarpsPerBlock = 4;
inline constexpr std::uint32_t kBlocks = kWarps / kWarpsPerBlock;

/// A memory key. `key` 0: none.
struct alignas(16) KeyEntry {
  std::uint64_t iova = 0;
  std::uint64_t bytes = 0;
  std::byte* at = nullptr;  // null: registered, but no GPU reaches it
  std::uint32_t key = 0;
  std::uint32_t pdn = 0;
  std::uint32_t access = 0;  // Access bits of cx7/hca/objects.h
  std::uint32_t near = 0;    // lies on the engine's own GPU
  std::uint32_t padding[2] = {};
};

/// What a requester must know of the QP or DCT at its other end. `qpn` 0: none.
struct alignas(16) PeerEntry {
  std::uint32_t qpn = 0;
  std::uint32_t remote_qpn = 0;
  std::uint32_t pdn = 0;
  std::uint32_t access = 0;
  std::uint8_t receives = 0;  // in RTR or RTS
  std::uint8_t remote_device = 0;
  std::uint8_t is_dct = 0;
  std::uint8_t padding = 0;
  std::uint32_t inbox = 0;  // where its immediates go; 0: it takes none
  std::uint64_t dc_key = 0;
};

/// Where a queue pair's immediates go: its receive record and its receive CQ, and how far both are. An RC queue pair
/// has one other end, so one warp alone moves its marks.
struct alignas(16) Inbox {
  const std::uint32_t* dbrec_recv = nullptr;
  std::byte* cq = nullptr;
  unsigned long long* cqes = nullptr;  // producer index of the CQ, which inboxes may share
  std::uint32_t cq_log = 0;
  std::uint32_t cqe_bytes = 64;
  std::uint32_t cq_collapsed = 0;
  std::uint32_t qpn = 0;
  std::uint32_t user_index = 0;
  std::uint32_t rnr_pause_us = 0;  // what a sender is asked to wait for a receive
  std::uint64_t rnr_since_ns = 0;  // when the sender met no receive; 0: it did not
  std::uint32_t taken = 0;         // receives
  std::uint32_t padding[3] = {};
};

/// What a device knows of keys and QPs: of a device of this process, or a copy of what another process owns.
struct Side {
  KeyEntry keys[kNumbers];
  PeerEntry peers[kNumbers];
};

enum class Serve : std::uint32_t { kNot, kSend, kFlush };

/// A queue pair that lane `i` of a warp watches, and the CQ whose producer index it keeps. `qpn` 0: none.
struct alignas(16) QueueEntry {
  std::uint32_t qpn = 0;
  std::uint32_t life = 0;  // changes when the QP starts afresh: progress of another life is void
  const std::byte* sq = nullptr;
  const std::uint32_t* dbrec_send = nullptr;
  const std::byte* registers = nullptr;  // of the UAR page: the first doorbell register
  std::byte* cq = nullptr;
  std::uint32_t sq_mask = 0;
  std::uint32_t cq_log = 0;
  std::uint32_t cqe_bytes = 64;
  std::uint32_t cq_lane = 0;       // lane of this warp that keeps this queue's CQ
  std::uint32_t kept_cq_life = 0;  // of the CQ that this lane keeps, maybe for another's queue; changes with the CQ
  std::uint32_t pdn = 0;
  std::uint32_t remote_qpn = 0;
  std::uint32_t user_index = 0;
  Serve serve = Serve::kNot;
  std::uint8_t device = 0;
  std::uint8_t remote_device = 0;
  std::uint8_t cq_collapsed = 0;
  std::uint8_t near_only = 0;   // queues and CQ lie on the engine's own GPU
  std::uint32_t retry_us = 0;   // how long an absent peer is waited for
  std::uint32_t rnr_tries = 0;  // pauses of a receiver that is not ready; UINT32_MAX: for ever
  std::uint32_t dc_lids = 0;    // of a DCI: LID of device 0, << 16 of device 1; 0: RC
  const Side* far = nullptr;    // of the device at the other end, maybe another process's; set before it is served
};

/// A lane's place in its queue, kept across shifts and generations.
struct alignas(16) Progress {
  std::uint32_t life = 0;
  std::uint32_t rung = 0;    // announced by a doorbell, free-running
  std::uint32_t posted = 0;  // announced and recorded: may be fetched
  std::uint32_t next = 0;    // WQEBB to execute
  std::uint64_t cqes = 0;    // producer index of the CQ kept by this lane
  std::uint32_t failed = 0;  // ended by an error of its own
  std::uint32_t cq_life = 0;
  std::uint32_t named = 0;  // announced by doorbells of its own; what lies behind was found through the record
  std::uint32_t aimed = 0;  // of a DCI: the DCT that it is turned to, see aim_of()
  std::uint64_t absent_since_ns = 0;  // of the peer that the next WQE goes to; 0: it was there
};

// clang-format off
#define MARROW_CX7_GPU_COUNTERS(row) \
  row(doorbells) \
  row(wqes_fetched) \
  row(cqes_written) \
  row(dc_connects) \
  row(dc_key_violations) \
  row(local_protection_errors) \
  row(timeouts) \
  row(rnr_naks_sent) \
  row(strict_stale_wqe_index) \
  row(strict_wqe_reserved_bits) \
  row(strict_doorbell_ahead_of_dbrec) \
  row(strict_sq_overflow) \
  row(unmodelled_opcodes) \
  row(unreachable_targets) \
  row(unmodelled_receivers)
// clang-format on

struct GpuCounters {
#define MARROW_FIELD(name) unsigned long long name = 0;
  MARROW_CX7_GPU_COUNTERS(MARROW_FIELD)
#undef MARROW_FIELD
};

/// In memory of the engine's GPU.
struct Tables {
  Side sides[kDevices];  // of this process
  QueueEntry queues[kWarps][kLanes];
  Progress progress[kWarps][kLanes];
  Inbox inboxes[kWarps * kLanes + 1];             // of the queue pair in seat n - 1
  unsigned long long recv_cqes[kWarps * kLanes];  // producer indices of receive CQs
  GpuCounters counters[kDevices];
  std::uint32_t generation;       // host to warps
  std::uint32_t arrived[kWarps];  // shift whose warp is there and waits for its turn
  std::uint32_t turn[kWarps];     // shift whose warp works
};

/// In host memory that the GPU maps.
struct Board {
  std::uint32_t seen[kWarps];   // generation that a warp works by
  std::uint32_t shift[kWarps];  // shift that works as this warp
  std::uint32_t stop;           // 1: nobody comes any more, do not wait for your turn
};

/// The kernel's argument.
struct ShiftOrder {
  Tables* tables = nullptr;
  Board* board = nullptr;
  std::uint32_t shift = 0;
  std::uint32_t length_us = 2000;
  bool strict = true;
};

}  // namespace marrow::cx7::cuda
