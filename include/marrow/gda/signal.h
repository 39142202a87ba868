// SPDX-License-Identifier: Apache-2.0
// A put and the signal that it has arrived: two WQEs in one reservation, under one doorbell. Aside of stop 2.
// RC and DC keep a queue's writes in order at the target, so who sees the signal sees the bytes [prm]; strict ordering
// of the signal's MR is the registration's matter.
//
//   const auto slots = sq.reserve(team, gda::put_with_signal_room<P>(team.size(), bytes));
//   gda::put_with_signal(sq, slots, team.rank(), put, {.at = flag, .result = scratch, .value = 1});
#pragma once

#include <cstdint>

#include "marrow/gda/send_queue.h"

namespace marrow::gda {

/// What the peer waits for. Policy::notify says how it is changed.
struct Arrival {
  Remote at;            // 8 bytes, or 4
  Local result;         // where the old value goes: atomics only, and always
  std::uint64_t value;  // added, or written
};

/// Room for `puts` puts of `bytes`, each with its signal.
template <PolicyType P>
MARROW_HD constexpr Room put_with_signal_room(std::uint32_t puts, std::uint32_t bytes) {
  constexpr bool atomic = P::notify == Notify::kFetchAdd || P::notify == Notify::kFetchAdd4;
  constexpr std::uint32_t inline_value = wire::wqebbs_of(3 + kAvDs<P>);
  return {puts, write_wqebbs<P>(bytes), atomic ? atomic_wqebbs<P>() : inline_value};
}

/// The i-th put of `slots`, by one lane.
template <PolicyType P, class Probe>
MARROW_HD void put_with_signal(SendQueue<P, Probe>& sq, const Slots& slots, std::uint32_t i, const Put& put,
                               const Arrival& arrival) {
  sq.write(slots[i], put);
  const Slot second = slots.second(i);
  if constexpr (P::notify == Notify::kFetchAdd) sq.fetch_add(second, {arrival.at, arrival.result, arrival.value});
  if constexpr (P::notify == Notify::kFetchAdd4) sq.masked_add4(second, {arrival.at, arrival.result, arrival.value});
  if constexpr (P::notify == Notify::kWrite8) sq.write_value(second, arrival.at, arrival.value);
  if constexpr (P::notify == Notify::kWrite4) {
    sq.write_value4(second, arrival.at, static_cast<std::uint32_t>(arrival.value));
  }
}

}  // namespace marrow::gda
