// SPDX-License-Identifier: Apache-2.0
// What makes a transport of lanes under load, on either kind of lane.
#pragma once

#include <chrono>

#include "experiments/common/load/crowd.h"
#include "experiments/common/load/ends.h"
#include "experiments/common/load/policies.h"
#include "experiments/common/load/proxy_end.h"

namespace marrow::experiments {

struct GdaLoad {
  CargoShape cargo;
  std::uint32_t bulk_queues = 1;  // that an end's bulk lanes share; the probe's own comes on top
  std::uint32_t sq_wqebbs = 16384;
};

struct ProxyLoad {
  CargoShape cargo;
  ProxyShape shape;
  Crowd crowd;  // of host lanes
};

/// How fast an end sends, over all its lanes.
struct Pace {
  double messages_a_second = 0;  // 0: as fast as it goes
};

struct LoadOptions {
  Probing probe = Probing::kReserved;
  Pace pace;
  bool loaded = true;             // false: nobody but the probe sends
  std::uint32_t most_warmup = 2;  // trips that are not kept; a loaded one is long

  /// Between two trips: so that what the bulk carries meanwhile is a rate, however short a trip is.
  [[nodiscard]] std::chrono::nanoseconds pause() const {
    return loaded ? std::chrono::milliseconds(2) : std::chrono::milliseconds(0);
  }
};

}  // namespace marrow::experiments
