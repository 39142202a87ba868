// SPDX-License-Identifier: Apache-2.0
// Several queues: which one a team posts to, and waiting for one, some or all of them. Asides of stops 2 and 9.
#pragma once

#include <cstdint>

#include "marrow/gda/shared_queue.h"

namespace marrow::gda {

/// Queues side by side, in memory that the lane can load from.
struct QueueSet {
  const Qp* qps = nullptr;
  std::uint32_t count = 0;
  std::uint64_t* turn = nullptr;  // QueueMap::kRoundRobin: picks so far

  /// A part of the set.
  [[nodiscard]] MARROW_HD QueueSet from(std::uint32_t first, std::uint32_t n) const { return {qps + first, n, turn}; }
};

/// Number of the queue that this team posts to. By each lane, with the same result, but kRoundRobin: by the leader.
template <PolicyType P>
[[nodiscard]] MARROW_HD std::uint32_t pick(const QueueSet& set, std::uint32_t callers_index) {
  constexpr QueueMap map = P::queue_map;
  if constexpr (map == QueueMap::kBlock) return block_number() % set.count;
  if constexpr (map == QueueMap::kWarp) return warp_number() % set.count;
  if constexpr (map == QueueMap::kRoundRobin) {
    return static_cast<std::uint32_t>(fetch_add<Scope::kGpu>(*set.turn, 1) % set.count);
  }
  return callers_index % set.count;
}

/// Waits until all that was submitted to each queue of the set is complete. The lanes of the team share the queues out.
/// The first error that a lane meets, in every lane. An exclusive queue must be in nobody's hands: its SendQueue has
/// ended.
template <PolicyType P, class Team>
[[nodiscard]] MARROW_HD Result quiet_all(const Team& team, const QueueSet& set) {
  Result result;
  for (std::uint32_t i = team.rank(); i < set.count; i += team.size()) {
    SendQueue<P> sq(set.qps[i]);
    const Result one = sq.drain(Solo{});
    if (result.ok()) result = one;
  }
  return team.first_failure(result);
}

/// The same for what Completion::quiet says: the queue that was used, or the set.
template <PolicyType P, class Team>
[[nodiscard]] MARROW_HD Result quiet(const Team& team, const QueueSet& set, std::uint32_t used) {
  return quiet_all<P>(team, P::completion.quiet == QuietScope::kSet ? set : set.from(used, 1));
}

}  // namespace marrow::gda
