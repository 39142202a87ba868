// SPDX-License-Identifier: Apache-2.0
// One row: B = 1 and B = 16 in turn, with one worker, eight rings and 64 bulk lanes at each end.
#include "experiments/batch_under_load/batch_under_load.h"

#include <fmt/format.h>

#include "experiments/common/load/bulk_shape.h"
#include "experiments/common/load/host_lanes.h"
#include "experiments/common/load/two_probes.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/common/load/gpu/gpu_lanes.h"
#endif

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kChain = 16;

template <class Lanes>
Loaded probe_at(const Context& context, ProxyShape shape, std::uint32_t batch, bool reports) {
  shape.batch = batch;
  typename Lanes::Proxy proxy(context, {.cargo = bulk_cargo(), .shape = shape, .crowd = bulk_crowd(shape)});
  if (reports && context.report_path) context.report_path(proxy.path(context));
  return Lanes::probe(context, proxy, {});
}

/// \tparam Lanes  HostLanes or GpuLanes.
template <class Lanes>
void run_batch_under_load(Context& context, const Point& point, measure::Record& record) {
  const ProxyShape shape{.workers = static_cast<std::uint32_t>(point.number("workers")),
                         .rings = static_cast<std::uint32_t>(point.number("rings")),
                         .lanes = kBulkLanes};
  Loaded single(context.iterations);
  Loaded chained(context.iterations);
  for (std::uint32_t turn = 0; turn < kProbeTurns && !context.stopping(); ++turn) {
    const auto part = turn_of(context, turn);
    if (part.iterations == 0) break;
    single += probe_at<Lanes>(part, shape, 1, turn == 0);
    chained += probe_at<Lanes>(part, shape, kChain, false);
  }
  record.counts.operations = single.messages + chained.messages + single.trips_ns.size() + chained.trips_ns.size();
  const auto of_one = add_loaded(context, "batch 1", single, record);
  const auto of_chain = add_loaded(context, fmt::format("batch {}", kChain), chained, record);
  record.verified = true;
  if (of_one.carried > 0 && of_chain.carried > 0) expect_chaining(of_one, of_chain, record);
}

}  // namespace

Experiment batch_under_load() {
  return {
      .name = "batch-under-load",
      .title = "Section 4.2, chained requests beside a probe",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices",
      .variants = {{"mini-proxy",
                    std::string(proxy::Tuned::name),
                    {{"workers", std::int64_t{1}}, {"rings", std::int64_t{8}}}}},
      .iterations = 40,
      .run = run_batch_under_load<HostLanes>,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = run_batch_under_load<GpuLanes>,
#endif
  };
}

}  // namespace marrow::experiments
