// SPDX-License-Identifier: Apache-2.0
// See gpu_lanes.h.
#include "experiments/common/load/gpu/gpu_lanes.h"

#include "marrow/gda/dump.h"

namespace marrow::experiments {
namespace {

constexpr std::uint64_t kMostWaitNs = 10'000'000'000;  // for a word, behind a long queue

}  // namespace

ProbeMemory::ProbeMemory(const Context& context, const CargoShape& cargo)
    : lanes_(cargo.lanes),
      trip_stop_(*context.gpu),
      bulk_stop_(*context.gpu),
      carried_(*context.gpu, 2 * std::size_t{cargo.lanes}),
      failures_(*context.gpu, 2 * std::size_t{cargo.lanes}),
      moments_(*context.gpu, 2),
      statuses_(*context.gpu, 2),
      stamps_(*context.gpu, context.iterations),
      reports_(*context.gpu, 2),
      near_ended_(*context.gpu, 1) {}

TripJob ProbeMemory::trip_job(const LoadEnds& ends, std::uint64_t warmup) const {
  TripJob job{.near = {{}, ends.trip_route(End::kNear), ends.box(End::kNear)},
              .far = {{}, ends.trip_route(End::kFar), ends.box(End::kFar)}};
  job.warmup = warmup;
  job.operations = stamps_.size();
  job.limit_ns = kMostWaitNs;
  job.stop = trip_stop_.word();
  job.near_ended = near_ended_.data();
  job.stamps = stamps_.data();
  job.reports = reports_.data();
  return job;
}

Loaded ProbeMemory::result(const Context& context, std::uint64_t warmup, bool loaded) const {
  Loaded seen(stamps_.size());
  if (loaded) {
    const auto failures = failures_.read();
    for (std::uint32_t i = 0; i < failures.size(); ++i) require_sent(failures[i], i);
    for (const auto carried : carried_.read()) seen.messages += carried;
  }
  const auto reports = reports_.read();
  for (const auto* name : {"near lane", "far lane"}) {
    const auto& report = reports[name == std::string("near lane") ? 0 : 1];
    if (report.result.ok()) continue;
    throw util::Error(fmt::format("{}: message {} of the probe did not complete: {}", name, report.operations,
                                  gda::format_result(report.result)));
  }
  if (reports[0].unanswered && !context.stopping()) {
    throw util::Error(fmt::format("round trip {}: no reply", reports[0].operations));
  }
  const auto kept = reports[0].operations > warmup ? reports[0].operations - warmup : 0;
  const double tick_ns = reports[0].span.ns_per_tick();
  for (const auto& trip : stamps_.read(kept)) {
    seen.trips_ns.add(static_cast<double>(trip.ticks.end - trip.ticks.start) * tick_ns);
  }
  const auto moments = moments_.read();
  seen.seconds = static_cast<double>(moments[1].ns - moments[0].ns) * 1e-9;
  seen.near_carried = moments[1].near - moments[0].near;
  seen.far_carried = moments[1].far - moments[0].far;
  return seen;
}

}  // namespace marrow::experiments
