// SPDX-License-Identifier: Apache-2.0
// One record of a probe under load: its round trips through a queue that the bulk uses too, then through one of its
// own, one after the other in the same row, with what the bulk carried beside each.
#pragma once

#include <string>

#include "experiments/common/load/host_probe.h"

namespace marrow::experiments {

/// The least that a reserved ring must take off a loaded round trip, as the paper's Figure 6 and Table 11 have it.
inline constexpr double kReservedRingGain = 10;

struct LoadedMedians {
  double trip_us = 0;
  double carried = 0;
};
/// Adds "round trip, NAME", "bulk carried, NAME", and who was the limit. None where the run was stopped before.
LoadedMedians add_loaded(const Context& context, const std::string& name, const Loaded& seen, measure::Record& record);

struct TwoProbes {
  LoadedMedians shared;
  LoadedMedians reserved;
};
/// Adds "shared / reserved" and what is expected of it.
void expect_reserved(const TwoProbes& probes, double least_gain, measure::Record& record);

/// Adds what a bulk carries with chained requests over what it carries without, and that it is more.
void expect_chaining(const LoadedMedians& single, const LoadedMedians& chained, measure::Record& record);

/// \param make  makes the transport anew, so that neither probe finds what the other left behind.
template <class Make>
TwoProbes measure_two_probes(const Context& context, Make&& make, LoadOptions options, measure::Record& record) {
  TwoProbes probes;
  for (const auto probe : {Probing::kShared, Probing::kReserved}) {
    auto transport = make();
    if (context.report_path && probe == Probing::kShared) context.report_path(transport->path(context));
    options.probe = probe;
    const auto seen = probe_under_load(context, *transport, options);
    record.counts.operations += seen.messages + seen.trips_ns.size();
    const bool shared = probe == Probing::kShared;
    (shared ? probes.shared : probes.reserved) =
        add_loaded(context, shared ? "shared queue" : "reserved queue", seen, record);
  }
  return probes;
}

}  // namespace marrow::experiments
