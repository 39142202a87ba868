// SPDX-License-Identifier: Apache-2.0
// A row of proxy-clock-state, for both lanes: cold, measured at once after a rest, then warm, after load on all cores.
#pragma once

#include <fmt/format.h>

#include <array>

#include "experiments/common/bench.h"
#include "experiments/proxy_clock_state/core_clock.h"
#include "experiments/proxy_idle_rtt/idle_results.h"
#include "experiments/proxy_rate/rates.h"
#include "marrow/proxy/hand_off.h"

namespace marrow::experiments {

/// What a few messages took.
inline void add_state_times(const Context& context, const SingleTimes& times, const char* state,
                            measure::Record& record) {
  const auto lane = context.gpu ? measure::Kind::kGpu : measure::Kind::kHostLane;
  const auto add = [&](const char* what, measure::Kind kind, const std::vector<double>& ns) {
    if (!ns.empty()) add_time(record, fmt::format("{}, {}", what, state).c_str(), kind, ns);
  };
  record.counts.operations += times.issue_ns.size() + times.trip_ns.size();
  add("enqueue", lane, times.issue_ns);
  add("put+completion", context.nic_kind, times.completion_ns);
  add("round trip", context.nic_kind, times.trip_ns);
  if (times.trip_ns.empty()) return;
  const std::array tail{record.metrics.back().summary.p99};
  record.metrics.push_back(
      {fmt::format("p99 of the round trip, {}", state), "us", context.nic_kind, measure::summarise(tail), {}});
}

/// \tparam Lanes  HostLanes or GpuLanes.
template <class Lanes>
void add_state_rates(const Context& context, const char* state, measure::Record& record) {
  constexpr std::uint32_t kRepetitions = 5;
  Context brief = context;
  brief.iterations = std::min(context.iterations, kRepetitions);
  brief.warmup = 0;
  for (const std::uint32_t batch : {1U, 16U}) {
    ProxyRates rates;
    add_repetitions<Lanes>(brief, {.batch = batch, .messages = Lanes::kRateMessages}, false, rates);
    if (rates.per_ns.empty()) return;
    record.metrics.push_back({fmt::format("message rate of batch {}, {}", batch, state),
                              "M msg/s",
                              context.nic_kind,
                              measure::summarise(rates.per_ns).scaled(1e3),
                              {}});
    record.counts.operations += rates.messages;
  }
}

/// \tparam Lanes  HostLanes or GpuLanes. \param singles  times of single messages, given a context.
template <class Lanes, class Singles>
void clock_state_row(const Context& context, const Point& point, Singles&& singles, measure::Record& record) {
  constexpr std::uint32_t kMostWarmup = 20;  // more would warm the cores up
  Context brief = context;
  brief.warmup = std::min(context.warmup, kMostWarmup);
  const auto measure = [&](const char* state) {
    const std::array clock{core_mhz(context)};
    record.metrics.push_back(
        {fmt::format("core clock, {}", state), "MHz", measure::Kind::kHostLane, measure::summarise(clock), {}});
    add_state_times(context, singles(brief), state, record);
    if (point.policy == proxy::Tuned::name) add_state_rates<Lanes>(context, state, record);
  };
  rest_cores(context, std::chrono::milliseconds(point.number("idle_ms")));
  measure("cold");
  load_cores(context, std::chrono::milliseconds(point.number("load_ms")));
  measure("warm");
  record.verified = true;
}

}  // namespace marrow::experiments
