// SPDX-License-Identifier: Apache-2.0
// Rows: who rings. On host lanes the lane is a CPU thread too: then the counts are the result, and the times those of
// one thread that waits for another. GPU lanes: host_doorbell_gpu.cpp.
#include "experiments/host_doorbell/host_doorbell.h"

#include <algorithm>
#include <array>

#include "experiments/common/bench.h"
#include "experiments/common/counts.h"
#include "experiments/common/gda_puts.h"
#include "experiments/common/host_rung.h"
#include "experiments/host_doorbell/host_doorbell_policies.h"
#include "experiments/host_doorbell/host_doorbell_price.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/host_doorbell/host_doorbell_gpu.h"
#endif

namespace marrow::experiments {
namespace {

constexpr const char* kPrice = "put+completion";

template <gda::PolicyType P>
void measure_through(const Context& context, Bench<verbs::DevxQp>& bench, const gda::Qp& qp, measure::Record& record) {
  constexpr std::uint64_t kCounted = 1000;
  {
    GdaPoster<P> poster(qp, bench.put_route(kSmallBytes));
    measure_puts(context, poster, bench.payload(kSmallBytes), record);
  }
  auto payload = bench.payload(kSmallBytes);
  GdaPoster<P, gda::CountingProbe> poster(qp, bench.put_route(kSmallBytes));
  const auto done = put_untimed(context, poster, payload, std::min<std::uint64_t>(kCounted, context.iterations));
  if (done == 0) return;
  constexpr bool kForwards = P::doorbell == gda::DoorbellSequence::kForwarded;
  record.counts = counts_of(poster.probe().counts, done);
  expect_counts(record, poster.probe().counts, counts_times(counts_of_put(kForwards), done));
}

void rung_by_lane(const Context& context, measure::Record& record) {
  Bench<verbs::DevxQp> bench(context, {});
  report_path(context, bench, /*lanes=*/1);
  measure_through<RungByLane>(context, bench, bench.a().queue.handle(), record);
}

void rung_by_host(const Context& context, measure::Record& record) {
  Bench<verbs::DevxQp> bench(context, {});
  const auto qp = bench.a().queue.handle();
  report_host_rung_path(context, bench, /*lanes=*/1);
  HostRung rung(context, {qp}, {});
  measure_through<RungForLane>(context, bench, rung.forwarded(qp), record);
  rung.finish(record);
}

void run_host_doorbell(Context& context, const Point& point, measure::Record& record) {
  if (point.text("rung_by") == kByLane) {
    rung_by_lane(context, record);
  } else {
    measure::Record beside;
    rung_by_lane(context, beside);
    rung_by_host(context, record);
    add_price(context, beside, record);
  }
  record.verified = true;
}

}  // namespace

void add_price(const Context& context, const measure::Record& by_lane, measure::Record& by_host) {
  const auto* without = measure::metric_of(by_lane, kPrice);
  const auto* with = measure::metric_of(by_host, kPrice);
  if (without == nullptr || with == nullptr) return;
  const std::array extra{with->summary.p50 - without->summary.p50};
  by_host.metrics.push_back({"extra put+completion", with->unit, context.nic_kind, measure::summarise(extra), {}});
}

Experiment host_doorbell() {
  const auto row = [](std::string_view rung_by) {
    return Variant{"mini-gda",
                   std::string(RungByLane::name),
                   {{"rung_by", std::string(rung_by)}, {"bytes", std::int64_t{kSmallBytes}}}};
  };
  return {
      .name = "host-doorbell",
      .title = "Section 4.3.1, a doorbell rung by the host",
      .needs =
          "two endpoints: cx7-sim, or one or two mlx5 devices; a core for the thread that rings; gpu lanes: a "
          "GPU of sm_90 or newer",
      .variants = {row(kByLane), row(kByHost)},
      .run = run_host_doorbell,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = host_doorbell_on_gpu,
#endif
  };
}

}  // namespace marrow::experiments
