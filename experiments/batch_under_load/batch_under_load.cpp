// SPDX-License-Identifier: Apache-2.0
// One row: B = 1, then B = 16, with one worker, eight rings and 64 bulk lanes at each end.
#include "experiments/batch_under_load/batch_under_load.h"

#include <array>

#include "experiments/common/load/bulk_shape.h"
#include "experiments/common/load/host_proxy.h"
#include "experiments/common/load/two_probes.h"

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kChain = 16;

LoadedMedians probe_at(const Context& context, ProxyShape shape, std::uint32_t batch, measure::Record& record) {
  shape.batch = batch;
  HostProxy<> proxy(context, {.cargo = bulk_cargo(), .shape = shape, .crowd = bulk_crowd(shape)});
  if (batch == 1 && context.report_path) context.report_path(proxy.path(context));
  const auto seen = probe_under_load(context, proxy, {});
  record.counts.operations += seen.messages + seen.trips_ns.size();
  return add_loaded(context, fmt::format("batch {}", batch), seen, record);
}

void run(Context& context, const Point& point, measure::Record& record) {
  const ProxyShape shape{.workers = static_cast<std::uint32_t>(point.number("workers")),
                         .rings = static_cast<std::uint32_t>(point.number("rings")),
                         .lanes = kBulkLanes};
  const auto single = probe_at(context, shape, 1, record);
  const auto chained = probe_at(context, shape, kChain, record);
  record.verified = true;
  if (single.carried <= 0 || chained.carried <= 0) return;
  expect_chaining(single, chained, record);
}

}  // namespace

Experiment batch_under_load() {
  return {.name = "batch-under-load",
          .title = "Section 4.2, chained requests beside a probe",
          .question = "What does chaining requests cost a probe with a ring of its own, and what does the bulk gain?",
          .needs = "two endpoints: cx7-sim, or one or two mlx5 devices",
          .variants = {{"mini-proxy",
                        std::string(proxy::Tuned::name),
                        {{"workers", std::int64_t{1}}, {"rings", std::int64_t{8}}}}},
          .iterations = 60,
          .run = run};
}

}  // namespace marrow::experiments
