// SPDX-License-Identifier: Apache-2.0
// Host lanes, for experiments that are written once for both kinds of lane.
#pragma once

#include "experiments/common/load/host_burst.h"
#include "experiments/common/load/host_probe.h"
#include "experiments/common/load/host_proxy.h"
#include "experiments/common/load/host_streams.h"

namespace marrow::experiments {

struct HostLanes {
  using Gda = HostGda;
  using Proxy = HostProxy<>;
  using Streams = HostStreams;
  template <class T>
  using Burst = HostBurst<T>;

  static constexpr std::uint32_t kRateMessages = 1024;  // of a ring, in one repetition of a rate
  /// Lanes that fill the link with writes of so many bytes.
  [[nodiscard]] static constexpr std::uint32_t stream_lanes(std::uint32_t) { return 1; }

  template <class T>
  [[nodiscard]] static Loaded probe(const Context& context, T& transport, const LoadOptions& options) {
    return probe_under_load(context, transport, options);
  }
};

}  // namespace marrow::experiments
