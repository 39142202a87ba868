// SPDX-License-Identifier: Apache-2.0
// Where the time of one put goes: the stages of the four verbs, stamped inside mini-gda by its own probe.
#pragma once

#include <optional>

#include "experiments/common/bench.h"
#include "experiments/common/host_clerk.h"
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

  /// \param ticks  of one put, by gda::Stage.
  void add(const std::uint64_t* ticks, double ns_per_tick) {
    const auto ns = [&](gda::Stage stage) {
      return static_cast<double>(ticks[static_cast<std::uint8_t>(stage)]) * ns_per_tick;
    };
    write.add(ns(gda::Stage::kWrite));
    order.add(ns(gda::Stage::kOrder));
    doorbell.add(ns(gda::Stage::kDoorbell));
    wait.add(ns(gda::Stage::kWait));
  }
};

/// Kinds of time: of what the lane does by itself, and of what waits for the NIC.
struct StageKinds {
  measure::Kind lane;
  measure::Kind nic;
};
void add_stages(measure::Record& record, StageKinds kinds, const StageSamples& stages);

/// Runs the puts once more with the stage probe and adds "stage: ..." metrics. Its stamps cost time themselves, so the
/// stages add up to more than the put+completion that was measured without them.
template <gda::PolicyType P>
void measure_stages(const Context& context, Bench<verbs::DevxQp>& bench, std::uint32_t bytes, measure::Record& record) {
  const auto tick_ns = ns_per_lane_tick(*context.clock);
  if (!tick_ns) {
    record.warnings.emplace_back("no stage times: this host's cycle counter is not a clock");
    return;
  }
  auto payload = bench.payload(bytes);
  StageSamples samples(context.iterations);
  using StagePoster = GdaPoster<P, gda::StageProbe>;
  StagePoster poster(bench.a().queue.handle(), bench.put_route(bytes));
  HostClerk clerk(context, payload, [&](StagePoster& of, const PutStamps&) {
    samples.add(of.probe().ticks, *tick_ns);
    of.probe() = {};
  });
  (void)puts(clerk, poster, context.iterations);
  add_stages(record, {measure::Kind::kHostLane, context.nic_kind}, samples);
}

}  // namespace marrow::experiments
