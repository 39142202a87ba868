// SPDX-License-Identifier: Apache-2.0
// See two_probes.h.
#include "experiments/common/load/two_probes.h"

#include <array>

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
  add_one(record, "bulk carried, " + name, "M msg/s", context.nic_kind, seen.carried);
  add_one(record, "bulk carried at the far end, " + name, "M msg/s", context.nic_kind, seen.far_carried);
  tell_limit(context, name, seen.busy, record);
  return {trip_us, seen.carried};
}

void expect_reserved(const TwoProbes& probes, double least_gain, measure::Record& record) {
  if (probes.shared.trip_us <= 0 || probes.reserved.trip_us <= 0) return;
  const double gain = probes.shared.trip_us / probes.reserved.trip_us;
  add_one(record, "shared / reserved", "x", record.metrics.front().kind, gain);
  record.expectations.push_back(
      {fmt::format("a reserved queue answers at least {:.3g} times as fast under load: {:.1f}", least_gain, gain),
       gain >= least_gain});
}

void expect_chaining(const LoadedMedians& single, const LoadedMedians& chained, measure::Record& record) {
  const double gain = chained.carried / single.carried;
  add_one(record, "bulk carried, batch 16 / batch 1", "x", record.metrics.front().kind, gain);
  record.expectations.push_back({fmt::format("chaining lets the bulk carry more: {:.2f} times", gain), gain > 1});
}

}  // namespace marrow::experiments
