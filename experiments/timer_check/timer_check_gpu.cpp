// SPDX-License-Identifier: Apache-2.0
// The host's part of timer-check on a GPU: the same delay, seen by clock64 and by globaltimer.
#include "experiments/timer_check/timer_check_gpu.h"

#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/common/round_trip.h"
#include "experiments/timer_check/timer_check_kernels.h"
#include "experiments/timer_check/trips.h"

namespace marrow::experiments {
namespace {

Trips trips_of(const Context& context, const std::vector<double>& times_ns) {
  Trips trips(times_ns.size());
  for (std::size_t i = 0; i < times_ns.size(); ++i) trips.keep(context.warmup + i, times_ns[i]);
  return trips;
}

}  // namespace

void timer_check_on_gpu(Context& context, const Point& point, measure::Record& record) {
  const auto delay_us = static_cast<std::uint64_t>(point.number("delay_us"));
  GpuBench bench(context);
  report_path(context, bench, kRoundTripLanes);
  const auto times = trips_on_gpu(context, bench, timer_check_trips(), delay_us * 1000);
  add_trips(record, context.nic_kind, trips_of(context, times.by_ticks_ns));
  expect_the_delay(record, static_cast<double>(delay_us), /*crowded=*/false);
  add_time(record, "round-trip shift, globaltimer", context.nic_kind, trips_of(context, times.by_globaltimer_ns).shift);
  record.verified = true;
}

}  // namespace marrow::experiments
