// SPDX-License-Identifier: Apache-2.0
// See two_probes.h.
#include "experiments/common/load/two_probes.h"

#include <fmt/format.h>

#include <array>

#include "experiments/common/bench.h"

namespace marrow::experiments {
namespace {

void add_one(measure::Record& record, std::string name, const char* unit, measure::Kind kind, double value) {
  record.metrics.push_back({std::move(name), unit, kind, measure::summarise(std::array{value}), {}});
}

}  // namespace

LoadedMedians add_loaded(const Context& context, const std::string& name, const Loaded& seen, measure::Record& record) {
  if (seen.trips_ns.size() == 0) return {};
  add_time(record, ("round trip, " + name).c_str(), context.nic_kind, seen.trips_ns);
  const double trip_us = record.metrics.back().summary.p50;
  const auto rate = [&](std::uint64_t messages) { return static_cast<double>(messages) / seen.seconds / 1e6; };
  if (seen.messages > 0) {
    add_one(record, "bulk carried, " + name, "M msg/s", context.nic_kind, rate(seen.near_carried));
    add_one(record, "bulk carried at the far end, " + name, "M msg/s", context.nic_kind, rate(seen.far_carried));
  }
  tell_limit(context, name, seen.busy, record);
  return {trip_us, seen.messages > 0 ? rate(seen.near_carried) : 0, seen.busy};
}

void expect_reserved(const TwoProbes& probes, double least_gain, Demand demand, measure::Record& record) {
  if (probes.shared.trip_us <= 0 || probes.reserved.trip_us <= 0) return;
  const double gain = probes.shared.trip_us / probes.reserved.trip_us;
  add_one(record, "shared / reserved", "x", record.metrics.front().kind, gain);
  const auto text =
      fmt::format("a reserved queue answers at least {:.3g} times as fast under load: {:.1f}", least_gain, gain);
  if (demand == Demand::kOfTransport)
    return expect_of_transport(probes.reserved.busy, text, gain >= least_gain, record);
  record.expectations.push_back({text, gain >= least_gain});
}

void expect_chaining(const LoadedMedians& single, const LoadedMedians& chained, measure::Record& record) {
  const double gain = chained.carried / single.carried;
  add_one(record, "bulk carried, batch 16 / batch 1", "x", record.metrics.front().kind, gain);
  expect_of_transport(chained.busy, fmt::format("chaining lets the bulk carry more: {:.2f} times", gain), gain > 1,
                      record);
}

}  // namespace marrow::experiments
