// SPDX-License-Identifier: Apache-2.0
// One row of ordering-litmus, on any lane: two loops of puts, and what went wrong in them, counted by the NIC, by the
// lane and by the host.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/common/bench.h"
#include "experiments/ordering_litmus/litmus_job.h"

namespace marrow::experiments {

/// What a row is about, from its point.
struct LitmusRow {
  std::string policy;
  bool pointer = false;
  bool queues_on_host = false;
  bool by_word = false;  // the doorbell is a word for a host thread, which rings
  bool crowded = false;  // others store to host memory meanwhile
  std::uint32_t batch = 1;
  std::uint32_t bytes = 8;
};
[[nodiscard]] LitmusRow litmus_row(const Point& point);

/// Of both ends' buffers, with room for the slots of one loop.
[[nodiscard]] std::size_t litmus_payload_bytes(const LitmusRow& row);

/// One loop as it went.
struct LitmusPass {
  LitmusReport report;
  std::vector<double> issue_ns;  // of each submit, where the loop awaits
};

/// A lane: runs one loop by the ordering of that name.
using LitmusLane = std::function<LitmusPass(std::string_view ordering, const LitmusJob& job)>;

/// The parts that lanes differ in.
struct LitmusSetting {
  const Bench<verbs::DevxQp>& bench;
  gda::Qp qp;            // as the lane takes it
  bool lookout = false;  // a thread looks at the WQEs beside the NIC; queues in host memory and a core to spare
  LitmusLane lane;
  measure::Kind issue_kind;
  std::uint64_t puts = 0;  // of the race at batch 1; ten times as many else
};

void measure_litmus(const Context& context, const LitmusRow& row, const LitmusSetting& setting,
                    measure::Record& record);

}  // namespace marrow::experiments
