// SPDX-License-Identifier: Apache-2.0
// What a probe saw under load.
#pragma once

#include "experiments/common/load/limit.h"
#include "measure/samples.h"

namespace marrow::experiments {

struct Loaded {
  explicit Loaded(std::size_t trips) : trips_ns(trips) {}
  measure::Samples trips_ns;
  // While the trips that count were under way:
  double seconds = 0;
  std::uint64_t near_carried = 0;  // messages of the near end's bulk
  std::uint64_t far_carried = 0;   // of the far end's
  Busy busy;
  std::uint64_t messages = 0;  // of the bulk, compared in all

  /// The same once more.
  Loaded& operator+=(const Loaded& more) {
    for (const auto ns : more.trips_ns.values()) trips_ns.add(ns);
    seconds += more.seconds;
    near_carried += more.near_carried;
    far_carried += more.far_carried;
    busy += more.busy;
    messages += more.messages;
    return *this;
  }
};

}  // namespace marrow::experiments
