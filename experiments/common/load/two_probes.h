// SPDX-License-Identifier: Apache-2.0
// One record of a probe under load: its round trips through a queue that the bulk uses too, then through one of its
// own, one after the other in the same row, with what the bulk carried beside each.
#pragma once

#include <string>

#include "experiments/common/load/load_options.h"
#include "experiments/common/load/loaded.h"

namespace marrow::experiments {

/// The least that a reserved ring must take off a loaded round trip, as the paper's Figure 6 and Table 11 have it.
inline constexpr double kReservedRingGain = 10;

struct LoadedMedians {
  double trip_us = 0;
  double carried = 0;
  Busy busy;
};
/// Adds "round trip, NAME", "bulk carried, NAME", and who was the limit. None where the run was stopped before.
LoadedMedians add_loaded(const Context& context, const std::string& name, const Loaded& seen, measure::Record& record);

struct TwoProbes {
  LoadedMedians shared;
  LoadedMedians reserved;
};
/// Adds "shared / reserved" and what is expected of it: always, or (kOfTransport) where nobody else was the limit.
enum class Demand : std::uint8_t { kAlways, kOfTransport };
void expect_reserved(const TwoProbes& probes, double least_gain, Demand demand, measure::Record& record);

/// Adds what a bulk carries with chained requests over what it carries without, and that it is more.
void expect_chaining(const LoadedMedians& single, const LoadedMedians& chained, measure::Record& record);

inline constexpr std::uint32_t kProbeTurns = 4;  // of what is compared, so that a drift of the machine falls on all

/// This turn's share of the iterations.
[[nodiscard]] inline Context turn_of(const Context& context, std::uint32_t turn) {
  Context part = context;
  part.iterations = context.iterations / kProbeTurns + (turn < context.iterations % kProbeTurns ? 1 : 0);
  return part;
}

/// The probes take turns, and each time gets the transport anew: it finds nothing of what another left behind.
/// \tparam Lanes  HostLanes or GpuLanes. \tparam T  one of its transports, made of `made_of`.
template <class Lanes, class T, class Options>
TwoProbes measure_two_probes(const Context& context, const Options& made_of, LoadOptions options,
                             measure::Record& record) {
  Loaded shared(context.iterations);
  Loaded reserved(context.iterations);
  for (std::uint32_t turn = 0; turn < kProbeTurns && !context.stopping(); ++turn) {
    const auto part = turn_of(context, turn);
    if (part.iterations == 0) break;
    for (const auto probe : {Probing::kShared, Probing::kReserved}) {
      T transport(part, made_of);
      if (context.report_path && turn == 0) context.report_path(transport.path(context));
      options.probe = probe;
      (probe == Probing::kShared ? shared : reserved) += Lanes::probe(part, transport, options);
    }
  }
  record.counts.operations = shared.messages + reserved.messages + shared.trips_ns.size() + reserved.trips_ns.size();
  TwoProbes probes;
  probes.shared = add_loaded(context, "shared queue", shared, record);
  probes.reserved = add_loaded(context, "reserved queue", reserved, record);
  return probes;
}

}  // namespace marrow::experiments
