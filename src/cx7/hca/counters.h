// SPDX-License-Identifier: Apache-2.0
// What the device counts. One row a counter: the list makes the struct and the names that `marrow sim --stats` prints.
// What a ConnectX shows of it under /sys stands in shim/port_counters.h. Facts: what each of those means [prm:
// "Understanding mlx5 Linux counters"].
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "cx7/fabric/link_counters.h"

namespace marrow::cx7 {

// clang-format off
#define MARROW_CX7_COUNTERS(row) \
  row(doorbells)                 /* values taken out of UAR registers */ \
  row(wqes_fetched)              \
  row(cqes_written)              \
  row(packets_sent)              \
  row(packets_received)          \
  row(words_sent)                /* of 4 bytes, from BTH to ICRC, as on a wire */ \
  row(words_received)            \
  row(payload_bytes_received)    \
  row(write_requests)            /* messages whose first packet came in order; the next two the same */ \
  row(read_requests)             \
  row(atomic_requests)           \
  row(acks_sent)                 \
  row(naks_sent)                 \
  row(rnr_naks_sent)             \
  row(duplicates_received)       \
  row(packets_dropped)           /* no such QP, wrong state, wrong source, dead peer */ \
  row(qkey_violations)           /* datagrams with another Q_Key than the QP's */ \
  row(datagrams_without_receive) /* nobody had posted a buffer for them */ \
  row(out_of_sequence)           /* requests behind a gap */ \
  row(sequence_naks_received)    \
  row(rnr_naks_received)         \
  row(responses_ahead)           /* a read's or an atomic's answer that tells of a lost one before it */ \
  row(retransmissions)           \
  row(timeouts)                  \
  row(completion_events)         \
  row(dc_connects)               /* destinations that DCIs turned to */ \
  row(dc_key_violations)         /* connections that a DCT refused: another access key */ \
  row(local_protection_errors)   \
  row(send_error_cqes)           /* flushed ones among them; the next ones the same */ \
  row(send_flush_cqes)           \
  row(receive_error_cqes)        \
  row(receive_flush_cqes)        \
  row(remote_access_errors)      /* that the peer found in requests of this side */ \
  row(remote_invalid_requests)   \
  row(access_errors_found)       /* in requests of peers */ \
  row(receives_too_short)        \
  row(link_downs)                \
  row(cq_overruns)               \
  /* strict mode: what hardware may let pass */ \
  row(strict_stale_wqe_index)    \
  row(strict_wqe_reserved_bits)  \
  row(strict_doorbell_without_work) \
  row(strict_doorbell_unknown_qp) \
  row(strict_doorbell_wrong_page) \
  row(strict_doorbell_ahead_of_dbrec) \
  row(strict_dbrec_never_rung)   \
  row(strict_sq_overflow)
// clang-format on

struct Counters {
#define MARROW_FIELD(name) std::uint64_t name = 0;
  MARROW_CX7_COUNTERS(MARROW_FIELD)
#undef MARROW_FIELD
};

inline constexpr std::array kCounterNames = {
#define MARROW_NAME(name) std::string_view(#name),
    MARROW_CX7_COUNTERS(MARROW_NAME)
#undef MARROW_NAME
};

static_assert(sizeof(Counters) == kCounterNames.size() * sizeof(std::uint64_t));

inline Counters& operator+=(Counters& sum, const Counters& more) {
#define MARROW_ADD(name) sum.name += more.name;
  MARROW_CX7_COUNTERS(MARROW_ADD)
#undef MARROW_ADD
  return sum;
}

using DeviceCounts = std::array<Counters, 2>;  // by device

/// All that a process counts. In memory that another process maps, where somebody watches (shim/board.h).
struct ProcessCounts {
  DeviceCounts devices;
  LinkCounters links;
};

}  // namespace marrow::cx7
