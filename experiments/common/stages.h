// SPDX-License-Identifier: Apache-2.0
// Where the time of one put goes: the stages of the four verbs, stamped inside mini-gda by its own probe.
#pragma once

#include <optional>

#include "experiments/common/bench.h"
#include "marrow/gda/probe.h"
#include "measure/samples.h"

namespace marrow::experiments {

/// Nanoseconds per lane_ticks() on this host; none when that counter is not a clock here.
[[nodiscard]] std::optional<double> ns_per_lane_tick(const measure::LaneClock& clock);

/// Samples of the stages that a reader can use: building the WQE, ordering with the dbrec, ringing, waiting.
struct StageSamples {
  explicit StageSamples(std::size_t capacity) : write(capacity), order(capacity), doorbell(capacity), wait(capacity) {}
  measure::Samples write;
  measure::Samples order;
  measure::Samples doorbell;
  measure::Samples wait;
};

void add_stages(measure::Record& record, measure::Kind nic_kind, const StageSamples& stages);

/// Runs the puts once more with the stage probe and adds "stage: ..." metrics. Its stamps cost time themselves, so the
/// stages add up to more than the put+completion that was measured without them.
template <gda::PolicyType P>
void measure_stages(const Context& context, Bench<verbs::DevxQp>& bench, std::uint32_t bytes, measure::Record& record) {
  const auto tick_ns = ns_per_lane_tick(*context.clock);
  if (!tick_ns) {
    record.warnings.emplace_back("no stage times: this host's cycle counter is not a clock");
    return;
  }
  using gda::Stage;
  auto payload = bench.payload(bytes);
  StageSamples samples(context.iterations);
  GdaPoster<P, gda::StageProbe> poster(bench.a().queue.handle(), bench.put_route(bytes));
  for (std::uint64_t i = 0; i < context.iterations && !context.stopping(); ++i) {
    payload.stamp_next();
    poster.probe() = {};
    poster.post();
    require_done(poster);
    const auto& ticks = poster.probe().ticks;
    const auto ns = [&](Stage stage) {
      return static_cast<double>(ticks[static_cast<std::uint8_t>(stage)]) * *tick_ns;
    };
    samples.write.add(ns(Stage::kWrite));
    samples.order.add(ns(Stage::kOrder));
    samples.doorbell.add(ns(Stage::kDoorbell));
    samples.wait.add(ns(Stage::kWait));
    payload.expect_arrived();
  }
  add_stages(record, context.nic_kind, samples);
}

}  // namespace marrow::experiments
