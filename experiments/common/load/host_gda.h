// SPDX-License-Identifier: Apache-2.0
// mini-gda as a transport of host lanes under load: bulk lanes share some queues; a probe shares the first of them, or
// has one of its own.
#pragma once

#include "experiments/common/load/load_options.h"
#include "experiments/common/load/posters.h"
#include "experiments/common/load/ways.h"
#include "marrow/gda/shared_queue.h"
#include "proxy/report.h"

namespace marrow::experiments {

class HostGda {
 public:
  using Poster = SharedPoster<LoadPolicy>;
  using Way = GdaWay<LoadPolicy, kLoadBatch>;

  HostGda(const Context& context, const GdaLoad& options)
      : bulk_queues_(options.bulk_queues),
        ends_(context, options.cargo, {.queues = options.bulk_queues + 1, .queue = {.sq_wqebbs = options.sq_wqebbs}},
              memory_of_host_lanes(context)) {}

  [[nodiscard]] const LoadEnds& ends() const { return ends_; }
  [[nodiscard]] Crowd crowd() const { return {.lanes = 4}; }
  [[nodiscard]] proxy::WorkerCounters worker_counters() const { return {}; }

  [[nodiscard]] measure::ActivePath path(const Context& context) const {
    auto path = active_path(context, ends_);
    path.lane = "host: " + crowd_text(context, crowd());
    return path;
  }

  [[nodiscard]] Way way(End end, std::uint32_t lane, const Cargo& cargo) {
    return Way(ends_.end(end).queues[lane % bulk_queues_].handle(), cargo);
  }
  [[nodiscard]] Poster poster(End end, Probing probe) {
    const auto queue = probe == Probing::kShared ? 0 : bulk_queues_;
    return Poster(ends_.end(end).queues[queue].handle(), ends_.trip_route(end));
  }

 private:
  std::uint32_t bulk_queues_;
  LoadEnds ends_;
};

}  // namespace marrow::experiments
