// SPDX-License-Identifier: Apache-2.0
// Queues, rings, workers and batches are the same whether the probe shares one of them or not. Paced rows hold the bulk
// at one rate for every transport, so that their latencies may be compared.
#include "experiments/queue_isolation/queue_isolation.h"

#include <cmath>

#include "experiments/common/load/bulk_shape.h"
#include "experiments/common/load/host_lanes.h"
#include "experiments/common/load/two_probes.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/common/load/gpu/gpu_lanes.h"
#endif

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kGdaQueues = 8;
constexpr std::uint32_t kPacedWindow = 16;  // a long one would go in bursts
constexpr std::uint32_t kGdaWqebbs = 2048;
constexpr double kOffPace = 0.1;

void compare_with_pace(double pace, const TwoProbes& probes, measure::Record& record) {
  for (const auto& one : {probes.shared, probes.reserved}) {
    const double wanted = pace / 1e6;
    if (std::abs(one.carried - wanted) <= kOffPace * wanted) continue;
    record.warnings.push_back(
        fmt::format("the bulk carried {:.3f} M msg/s and was to be held at {:.3f}: its latency is "
                    "not that of the other rows' load",
                    one.carried, wanted));
  }
}

/// \tparam Lanes  HostLanes or GpuLanes.
template <class Lanes>
void run_queue_isolation(Context& context, const Point& point, measure::Record& record) {
  const double pace = static_cast<double>(point.number("pace_kmsg")) * 1e3;
  const LoadOptions options{.pace = {pace}};
  const bool proxied = point.path == "mini-proxy";
  auto cargo = bulk_cargo();
  if (pace > 0) cargo.places = kPacedWindow;
  TwoProbes probes;
  if (proxied) {
    const auto shape = bulk_proxy(point);
    const ProxyLoad proxy{.cargo = cargo, .shape = shape, .crowd = bulk_crowd(shape)};
    probes = measure_two_probes<Lanes, typename Lanes::Proxy>(context, proxy, options, record);
  } else {
    const GdaLoad gda{.cargo = cargo, .bulk_queues = kGdaQueues, .sq_wqebbs = kGdaWqebbs};
    probes = measure_two_probes<Lanes, typename Lanes::Gda>(context, gda, options, record);
  }
  if (pace == 0) {
    // Many queues' packets meet on one link: the probe's own queue or worker does not spare it that.
    const bool one_queue = proxied && point.number("workers") == 1;
    expect_reserved(probes, proxied ? kReservedRingGain : 1, one_queue ? Demand::kAlways : Demand::kOfTransport,
                    record);
  } else {
    compare_with_pace(pace, probes, record);
  }
  record.verified = true;
}

}  // namespace

Experiment queue_isolation() {
  return {
      .name = "queue-isolation",
      .title = "Table 11, a probe's queue beside bulk traffic",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; a core a worker",
      .variants = {{"mini-gda",
                    std::string(LoadPolicy::name),
                    {{"sharing", std::string("slots")}, {"queues", std::int64_t{kGdaQueues}}}},
                   proxy_row(1, 8, 16),
                   proxy_row(4, 32, 16)},
      .sweeps = {{.name = "pace_kmsg",
                  .meaning = "what each end's bulk is held at, thousand messages a second; 0: as fast as it goes",
                  .values = {0, 40},
                  .min = 0,
                  .max = 200'000}},
      .iterations = 40,
      .run = run_queue_isolation<HostLanes>,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = run_queue_isolation<GpuLanes>,
#endif
  };
}

}  // namespace marrow::experiments
