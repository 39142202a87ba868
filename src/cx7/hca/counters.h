// SPDX-License-Identifier: Apache-2.0
// What the device counts. One row a counter: the list makes the struct and the names that `marrow sim --stats` prints.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace marrow::cx7 {

// clang-format off
#define MARROW_CX7_COUNTERS(row) \
  row(doorbells)                 /* values taken out of UAR registers */ \
  row(wqes_fetched)              \
  row(cqes_written)              \
  row(packets_sent)              \
  row(packets_received)          \
  row(payload_bytes_received)    \
  row(acks_sent)                 \
  row(naks_sent)                 \
  row(rnr_naks_sent)             \
  row(duplicates_received)       \
  row(packets_dropped)           /* no such QP, wrong state, wrong source, dead peer */ \
  row(qkey_violations)           /* datagrams with another Q_Key than the QP's */ \
  row(datagrams_without_receive) /* nobody had posted a buffer for them */ \
  row(retransmissions)           \
  row(timeouts)                  \
  row(completion_events)         \
  row(dc_connects)               /* destinations that DCIs turned to */ \
  row(dc_key_violations)         /* connections that a DCT refused: another access key */ \
  row(local_protection_errors)   \
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

}  // namespace marrow::cx7
