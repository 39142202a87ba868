// SPDX-License-Identifier: Apache-2.0
// mini-gda with a queue of its own for each lane and the payload by pointer, on host lanes: for bursts.
#pragma once

#include "experiments/common/load/load_options.h"
#include "experiments/common/load/ways.h"

namespace marrow::experiments {

inline constexpr std::uint32_t kStreamWqebbs = 1024;

class HostStreams {
 public:
  using Way = GdaWay<StreamPolicy, kLoadBatch>;

  HostStreams(const Context& context, const CargoShape& cargo)
      : ends_(context, cargo, {.queues = cargo.lanes, .queue = {.sq_wqebbs = kStreamWqebbs}},
              memory_of_host_lanes(context)) {}

  [[nodiscard]] const LoadEnds& ends() const { return ends_; }
  [[nodiscard]] proxy::WorkerCounters worker_counters() const { return {}; }
  [[nodiscard]] Way way(End end, std::uint32_t lane, const Cargo& cargo) {
    return Way(ends_.end(end).queues[lane].handle(), cargo);
  }
  [[nodiscard]] measure::ActivePath path(const Context& context) const {
    auto path = active_path(context, ends_);
    path.lane = "host: " + crowd_text(context, {.lanes = 1});
    return path;
  }

 private:
  LoadEnds ends_;
};

}  // namespace marrow::experiments
