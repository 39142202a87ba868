// SPDX-License-Identifier: Apache-2.0
// One row a hand-off, with both states in it: cold, measured at once after a rest, then warm, after load on all cores.
// The rates stand in the row of the tuned hand-off. The paper rests for 45 s and loads for 20 s; here both are axes,
// and short unless they are asked for.
#include "experiments/proxy_clock_state/proxy_clock_state.h"

#include <fmt/format.h>

#include <array>

#include "experiments/common/load/host_probe.h"
#include "experiments/common/load/host_single.h"
#include "experiments/proxy_clock_state/core_clock.h"
#include "experiments/proxy_rate/host_rates.h"

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kMostWarmup = 20;  // more would warm the cores up
constexpr std::uint32_t kRateRepetitions = 5;

void add_time_in(measure::Record& record, const std::string& name, const char* state, measure::Kind kind,
                 const measure::Samples& samples) {
  if (samples.size() > 0) add_time(record, (name + ", " + state).c_str(), kind, samples);
}

template <proxy::HandOffType H>
void measure_latencies(const Context& context, const char* state, measure::Record& record) {
  auto proxy = idle_proxy<H>(context, 8, true);
  if (context.report_path) context.report_path(proxy.path(context));
  Context brief = context;
  brief.warmup = std::min(context.warmup, kMostWarmup);
  const auto cargo = proxy.ends().cargo(End::kNear, 0);
  {
    auto poster = proxy.single_poster(cargo);
    const auto puts = single_puts(brief, poster, cargo);
    add_time_in(record, "enqueue", state, measure::Kind::kHostLane, puts.issue);
    add_time_in(record, "put+completion", state, context.nic_kind, puts.completion);
    record.counts.operations += puts.issue.size();
  }
  const auto seen = probe_under_load(brief, proxy, {.loaded = false, .most_warmup = brief.warmup});
  add_time_in(record, "round trip", state, context.nic_kind, seen.trips_ns);
  record.counts.operations += seen.trips_ns.size();
}

void measure_rates(const Context& context, const char* state, measure::Record& record) {
  Context brief = context;
  brief.iterations = std::min(context.iterations, kRateRepetitions);
  brief.warmup = 0;
  for (const std::uint32_t batch : {1U, 16U}) {
    const auto rates = host_rates(brief, {.batch = batch}, false, record);
    if (rates.per_ns.empty()) return;
    const auto per_us = measure::summarise(rates.per_ns).scaled(1e3);
    record.metrics.push_back(
        {fmt::format("message rate of batch {}, {}", batch, state), "M msg/s", context.nic_kind, per_us, {}});
    record.counts.operations += rates.messages;
  }
}

template <proxy::HandOffType H>
void measure_state(const Context& context, const char* state, measure::Record& record) {
  const std::array clock{core_mhz(context)};
  record.metrics.push_back(
      {fmt::format("core clock, {}", state), "MHz", measure::Kind::kHostLane, measure::summarise(clock), {}});
  measure_latencies<H>(context, state, record);
  if (H::name == proxy::Tuned::name) measure_rates(context, state, record);
}

template <proxy::HandOffType H>
void measure_both(const Context& context, const Point& point, measure::Record& record) {
  rest_cores(context, std::chrono::milliseconds(point.number("idle_ms")));
  measure_state<H>(context, "cold", record);
  load_cores(context, std::chrono::milliseconds(point.number("load_ms")));
  measure_state<H>(context, "warm", record);
  record.verified = true;
}

void run(Context& context, const Point& point, measure::Record& record) {
  if (point.policy == proxy::Baseline::name) return measure_both<proxy::Baseline>(context, point, record);
  measure_both<proxy::Tuned>(context, point, record);
}

}  // namespace

Experiment proxy_clock_state() {
  return {.name = "proxy-clock-state",
          .title = "Tables 9 and 10, a proxy on cold and on warm cores",
          .question = "What does the state of the host's cores do to a proxy's latency, its tail and its rate?",
          .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; cores whose clock follows their load",
          .variants = {{"mini-proxy", std::string(proxy::Baseline::name), {}},
                       {"mini-proxy", std::string(proxy::Tuned::name), {}}},
          .sweeps = {{.name = "idle_ms",
                      .meaning = "rest before the cold half; the paper's is 45000",
                      .values = {1000},
                      .min = 0,
                      .max = 120'000},
                     {.name = "load_ms",
                      .meaning = "load before the warm half; the paper's is 20000",
                      .values = {500},
                      .min = 0,
                      .max = 120'000}},
          .iterations = 200,
          .run = run};
}

}  // namespace marrow::experiments
