// SPDX-License-Identifier: Apache-2.0
// A row of loaded-rtt, for both lanes.
#pragma once

#include "experiments/common/load/bulk_shape.h"
#include "experiments/common/load/two_probes.h"

namespace marrow::experiments {

// From here on the bulk's queue is long beside everything else that a trip waits for.
inline constexpr std::int64_t kLongQueue = 16;

/// \tparam Lanes  HostLanes or GpuLanes.
template <class Lanes>
void loaded_rtt_row(Context& context, const Point& point, measure::Record& record) {
  const auto background = point.number("background");
  const auto lanes = static_cast<std::uint32_t>(std::max<std::int64_t>(background, 1));  // of a cargo, sent or not
  const LoadOptions options{.loaded = background > 0};
  const bool proxied = point.path == "mini-proxy";
  TwoProbes probes;
  if (proxied) {
    const auto shape = bulk_proxy(point, lanes);
    const ProxyLoad proxy{.cargo = bulk_cargo(lanes), .shape = shape, .crowd = bulk_crowd(shape)};
    probes = measure_two_probes<Lanes, typename Lanes::Proxy>(context, proxy, options, record);
  } else {
    const GdaLoad gda{.cargo = bulk_cargo(lanes)};
    probes = measure_two_probes<Lanes, typename Lanes::Gda>(context, gda, options, record);
  }
  if (background >= kLongQueue) {
    expect_reserved(probes, proxied && lanes == kBulkLanes ? kReservedRingGain : 1, Demand::kAlways, record);
  }
  record.verified = true;
}

}  // namespace marrow::experiments
