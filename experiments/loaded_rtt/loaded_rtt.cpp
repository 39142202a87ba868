// SPDX-License-Identifier: Apache-2.0
// All bulk lanes of an end share one queue or one ring, as in the paper's dashed curves; the probe shares it, or has
// its own. Each bulk lane keeps 32 to 64 messages under way, as a CTA of the paper does until its ring is full.
#include "experiments/loaded_rtt/loaded_rtt.h"

#include "experiments/common/load/bulk_shape.h"
#include "experiments/common/load/host_proxy.h"
#include "experiments/common/load/two_probes.h"

namespace marrow::experiments {
namespace {

// From here on the bulk's queue is long beside everything else that a trip waits for.
constexpr std::int64_t kLongQueue = 16;

/// A cargo has a lane even where nobody sends.
CargoShape cargo_of(std::int64_t lanes) {
  return bulk_cargo(static_cast<std::uint32_t>(std::max<std::int64_t>(lanes, 1)));
}

double least_gain(const Point& point) {
  const auto lanes = point.number("background");
  if (lanes < kLongQueue) return 0;
  return point.path == "mini-proxy" && lanes == kBulkLanes ? kReservedRingGain : 1;
}

void run(Context& context, const Point& point, measure::Record& record) {
  const auto lanes = point.number("background");
  const LoadOptions options{.loaded = lanes > 0};
  TwoProbes probes;
  if (point.path == "mini-gda") {
    probes = measure_two_probes(
        context, [&] { return std::make_unique<HostGda>(context, HostGda::Options{.cargo = cargo_of(lanes)}); },
        options, record);
  } else {
    const auto shape = bulk_proxy(point, cargo_of(lanes).lanes);
    const HostProxy<>::Options proxy{.cargo = cargo_of(lanes), .shape = shape, .crowd = bulk_crowd(shape)};
    probes = measure_two_probes(
        context, [&] { return std::make_unique<HostProxy<>>(context, proxy); }, options, record);
  }
  if (const auto least = least_gain(point); least > 0) expect_reserved(probes, least, record);
  record.verified = true;
}

}  // namespace

Experiment loaded_rtt() {
  return {
      .name = "loaded-rtt",
      .title = "Figure 6, a round trip beside bulk traffic",
      .question = "What do bulk lanes at both ends do to a probe's round trip, on a shared and on a reserved queue?",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; gpu lanes: a GPU of sm_90 or newer",
      .variants = {{"mini-gda", std::string(LoadPolicy::name), {{"sharing", std::string("slots")}}},
                   proxy_row(1, 1, 16)},
      .sweeps = {{.name = "background",
                  .meaning = "bulk lanes at each end",
                  .values = {0, 1, 4, 16, std::int64_t{kBulkLanes}},
                  .min = 0,
                  .max = std::int64_t{kBulkLanes}}},
      .iterations = 60,
      .run = run};
}

}  // namespace marrow::experiments
