// SPDX-License-Identifier: Apache-2.0
// Which part was busy while something was measured: workers, the NIC's engine, or the lanes. From counters, so that no
// part becomes the limit unseen.
#pragma once

#include <string>

#include "experiments/experiment.h"
#include "proxy/report.h"

namespace marrow::experiments {

/// Shares of 0 to 1; below 0 where nobody counted.
struct Busy {
  double workers = -1;          // of their time, in rounds that did something
  double stalls = -1;           // of a worker's looks that found a request: there was no room for it in the queue pair
  double engine = -1;           // of the software NIC's steps, those with work
  double workers_per_post = 0;  // requests
};

/// Counts from construction on.
class BusyWatch {
 public:
  BusyWatch(const Context& context, const proxy::WorkerCounters& workers);
  [[nodiscard]] Busy until(const proxy::WorkerCounters& workers) const;

 private:
  const Context& context_;
  proxy::WorkerCounters workers_;
  std::uint64_t steps_ = 0;
  std::uint64_t steps_with_work_ = 0;
};

enum class Limit : std::uint8_t { kLanes, kWorkers, kNic };
[[nodiscard]] Limit limit_of(const Busy& busy);

/// Adds who limited `what` with the numbers behind it: a warning where it was the NIC, for then the rate is not the
/// transport's; else an expectation that held.
void tell_limit(const Context& context, const std::string& what, const Busy& busy, measure::Record& record);

}  // namespace marrow::experiments
