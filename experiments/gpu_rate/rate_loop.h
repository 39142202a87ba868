// SPDX-License-Identifier: Apache-2.0
// What a team does in one repetition, on host lanes and GPU lanes: reservation after reservation, with many puts
// outstanding; it waits only for room, and at the end for its own last put. As the paper's Table 5 does: inline puts of
// 8 bytes, room reclaimed now and then (a CQE where a reservation ends a half of the ring), a final drain.
//
// Each WQEBB of the ring has 8 bytes of its own at the far side, and each WQE a value that tells its index. So no two
// puts under way have one target, whatever passes whatever; and afterwards the far side must hold exactly the last
// ring's worth of values.
#pragma once

#include <cstdint>

#include "experiments/common/stamp.h"
#include "marrow/gda/send_queue.h"

namespace marrow::experiments {

/// The far side's places of one queue, and its number, which is part of the values.
struct RateTarget {
  gda::Remote to;
  std::uint32_t mask = 0;  // of WQEBB indices
  std::uint32_t number = 0;
};

template <class Queue>
MARROW_HD void write_stamped(Queue& sq, const gda::Slot& slot, const RateTarget& target) {
  const auto place = slot.wqebb & target.mask;
  sq.write_value(slot, target.to + place * sizeof(std::uint64_t), stamp_word(slot.wqebb, target.number));
}

/// `kEach` WQEs of a reservation by each lane. \returns the result of the last wait, or of what went wrong before.
template <std::uint32_t kEach, class Team, class Queue>
MARROW_HD gda::Result post_all(const Team& team, Queue& sq, const RateTarget& target, std::uint32_t rounds) {
  const gda::Room room{kEach * team.size()};
  const auto write = [&](const gda::Slots& slots) {
    for (std::uint32_t k = 0; k < kEach; ++k) write_stamped(sq, slots[k * team.size() + team.rank()], target);
  };
  gda::Ticket ticket;
  for (std::uint32_t round = 1; round < rounds && ticket.status == gda::Status::kOk; ++round) {
    ticket = sq.post(team, room, write);
  }
  if (ticket.status != gda::Status::kOk) return {ticket.status};
  const auto last = sq.reserve(team, room).asking();
  write(last);
  return sq.wait(team, sq.submit(team, last));
}

}  // namespace marrow::experiments
