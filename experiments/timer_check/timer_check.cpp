// SPDX-License-Identifier: Apache-2.0
// The far lane waits a known time before every second reply; the round trip must grow by just that. Delayed and
// undelayed round trips alternate, so that a drift of the machine falls on both.
#include "experiments/timer_check/timer_check.h"

#include "experiments/common/bench.h"
#include "experiments/common/round_trip.h"
#include "experiments/timer_check/trips.h"
#include "marrow/gda/policy.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/timer_check/timer_check_gpu.h"
#endif

namespace marrow::experiments {
namespace {

using measure::Record;

std::uint64_t delay_of(std::uint64_t i, std::uint64_t delay_ns) {
  return is_delayed(i) ? delay_ns : 0;
}

void run_timer_check(Context& context, const Point& point, Record& record) {
  using P = gda::GpuFence;
  const auto delay_us = point.number("delay_us");
  const Bench<verbs::DevxQp> bench(context, {});
  report_path(context, bench, kRoundTripLanes);
  GdaPoster<P> near(bench.a().queue.handle(), bench.request_route());
  GdaPoster<P> far(bench.b().queue.handle(), bench.reply_route());
  Trips trips(context.iterations);
  const std::uint64_t operations = std::uint64_t{context.warmup} + context.iterations;
  Replier<GdaPoster<P>> replier(far, {.box = bench.far_box(),
                                      .operations = operations,
                                      .delay_of = delay_of,
                                      .parameter = static_cast<std::uint64_t>(delay_us) * 1000,
                                      .crowded = is_crowded(context, kRoundTripLanes)});
  round_trips(context, near, bench.near_box(), [&](std::uint64_t i, double ns) { trips.keep(i, ns); });
  replier.finish();
  add_trips(record, context.nic_kind, trips);
  expect_the_delay(record, static_cast<double>(delay_us), is_crowded(context, kRoundTripLanes));
  record.verified = true;
}

}  // namespace

Experiment timer_check() {
  return {
      .name = "timer-check",
      .title = "Appendix A, an artificial delay",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; two lanes; gpu lanes: a GPU of sm_90 or newer",
      .variants = {{"mini-gda", std::string(gda::GpuFence::name), {}}},
      .sweeps = {{.name = "delay_us",
                  .meaning = "busy waiting of the replying lane before every second reply",
                  .values = {50},
                  .min = 1,
                  .max = 10'000}},
      .run = run_timer_check,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = timer_check_on_gpu,
#endif
  };
}

}  // namespace marrow::experiments
