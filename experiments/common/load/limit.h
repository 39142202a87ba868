// SPDX-License-Identifier: Apache-2.0
// Which part was busy while something was measured: workers, the NIC's engine, or the lanes. From counters, so that no
// part becomes the limit unseen.
#pragma once

#include <string>

#include "experiments/experiment.h"
#include "proxy/report.h"

namespace marrow::experiments {

/// What was counted while something was measured. Shares are 0 to 1, and below 0 where nobody counted.
struct Busy {
  std::uint64_t worker_ticks = 0;
  std::uint64_t busy_ticks = 0;  // of them: in rounds that did something
  std::uint64_t looks = 0;       // of workers at rings, that found a request
  std::uint64_t stalls = 0;      // of them: there was no room for it in the queue pair
  std::uint64_t posts = 0;
  std::uint64_t requests = 0;  // posted
  std::uint64_t steps = 0;     // of the software NIC's engine
  std::uint64_t steps_with_work = 0;

  Busy& operator+=(const Busy& more);
  [[nodiscard]] double workers() const { return share(busy_ticks, worker_ticks); }
  [[nodiscard]] double stalled() const { return share(stalls, looks); }
  [[nodiscard]] double engine() const { return share(steps_with_work, steps); }
  [[nodiscard]] double requests_a_post() const { return share(requests, posts); }

 private:
  static double share(std::uint64_t part, std::uint64_t all) {
    return all == 0 ? -1 : static_cast<double>(part) / static_cast<double>(all);
  }
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

/// An expectation where it held, or where the transport itself was the limit; else a warning: it was asked for of
/// something that others held back.
void expect_of_transport(const Busy& busy, const std::string& text, bool held, measure::Record& record);

}  // namespace marrow::experiments
