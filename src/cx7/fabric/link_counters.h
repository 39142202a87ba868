// SPDX-License-Identifier: Apache-2.0
// What the links count beside what the devices do. One row a counter: the list makes the struct and the names.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace marrow::cx7 {

// clang-format off
#define MARROW_CX7_LINK_COUNTERS(row) \
  row(network_packets_sent)      \
  row(network_packets_received)  /* sound ones */ \
  row(network_send_errors)       /* the system refused: no route, larger than the interface's MTU */ \
  row(network_malformed)         /* no packet of ours */ \
  row(network_icrc_errors)       \
  row(network_forwarded)         /* handed to the process of this host that they are for */ \
  /* faults that were asked for: what met them */ \
  row(faults_lost)               \
  row(faults_duplicated)         \
  row(faults_reordered)          \
  row(faults_delayed)            \
  row(faults_corrupted)          \
  row(faults_slow)               \
  row(faults_black_hole)         \
  row(faults_link_down)          \
  row(faults_rnr)                /* messages that found no receive though one was posted */ \
  row(faults_cqes_held)          \
  row(faults_doorbells_late)
// clang-format on

struct LinkCounters {
#define MARROW_FIELD(name) std::uint64_t name = 0;
  MARROW_CX7_LINK_COUNTERS(MARROW_FIELD)
#undef MARROW_FIELD
};

inline constexpr std::array kLinkCounterNames = {
#define MARROW_NAME(name) std::string_view(#name),
    MARROW_CX7_LINK_COUNTERS(MARROW_NAME)
#undef MARROW_NAME
};

static_assert(sizeof(LinkCounters) == kLinkCounterNames.size() * sizeof(std::uint64_t));

inline LinkCounters& operator+=(LinkCounters& sum, const LinkCounters& more) {
#define MARROW_ADD(name) sum.name += more.name;
  MARROW_CX7_LINK_COUNTERS(MARROW_ADD)
#undef MARROW_ADD
  return sum;
}

}  // namespace marrow::cx7
