// SPDX-License-Identifier: Apache-2.0
// What workers say of themselves, for records: where each one runs, and what it did.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proxy/options.h"

namespace marrow::proxy {

/// A worker's own numbers. Plain sums since start().
struct WorkerCounters {
  std::uint64_t requests = 0;       // descriptors taken
  std::uint64_t failed = 0;         // of them: not posted, their ring had failed or they made no sense
  std::uint64_t posts = 0;          // calls of ibv_post_send: a doorbell each
  std::uint64_t wrs = 0;            // work requests posted
  std::uint64_t cqes = 0;           // polled
  std::uint64_t visits = 0;         // looks at a ring
  std::uint64_t empty_visits = 0;   // of them: nothing was there
  std::uint64_t credit_stalls = 0;  // of them: a request waited for room in its queue pair, or for Options::in_flight
  std::uint64_t rounds = 0;         // over all rings
  std::uint64_t busy_ticks = 0;     // spent in rounds that did something
  std::uint64_t ticks = 0;          // all

  /// 0 to 1. Near 1: the worker is what limits the rate.
  [[nodiscard]] double busy() const {
    return ticks == 0 ? 0 : static_cast<double>(busy_ticks) / static_cast<double>(ticks);
  }
};
/// Sums; busy() is then the mean.
WorkerCounters& operator+=(WorkerCounters& to, const WorkerCounters& more);
/// Of numbers that their worker is adding to.
[[nodiscard]] WorkerCounters snapshot(const WorkerCounters& of);

/// Where a worker runs.
struct WorkerPlace {
  bool pinned = false;
  unsigned core = 0;       // the kernel's number; meaningless unless pinned
  int numa_node = -1;      // of the core; -1: not exposed
  int nic_numa_node = -1;  // of the device
  bool shared = false;     // another worker has the same core (oversubscribe)
};

/// A core's state at this moment, "not exposed" where the kernel does not tell.
struct CoreState {
  std::string clock;     // "2500 MHz"
  std::string governor;  // "performance"
};
[[nodiscard]] CoreState read_core(unsigned core);

struct WorkerReport {
  WorkerPlace place;
  CoreState core;  // when the report was made
  WorkerCounters counters;
  std::vector<std::uint32_t> rings;  // by their place in the constructor's list
};

struct WorkersReport {
  std::vector<WorkerReport> workers;

  [[nodiscard]] WorkerCounters total() const;
  /// "2 workers on cores 0, 1 of NUMA node 0 (governor performance, 2500 MHz)"
  [[nodiscard]] std::string sentence() const;
};

}  // namespace marrow::proxy
