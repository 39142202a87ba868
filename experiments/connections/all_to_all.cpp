// SPDX-License-Identifier: Apache-2.0
// connections-all-to-all. Rows: 32 endpoints by writes of a visit and connections, against the same endpoints with two
// peers each; and the dense sweep over 128 endpoints, as the onset that the paper fits to it.
#include "experiments/connections/connections.h"
#include "experiments/connections/modelled.h"
#include "experiments/connections/onset.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kControlPeers = 2;
constexpr std::uint32_t kDenseEndpoints = 128;

double two_peer_rate(const Passes& passes, const AllToAll& setting, std::uint32_t pass) {
  return mean_of(passes.one(all_to_all_traffic(setting, kControlPeers), pass).sent_m_per_s);
}

/// The mean of all NICs, as the paper takes it, against the two-peer mean of the same pass.
void run_kept(Passes& passes, const Point& point) {
  const auto endpoints = count_of(point, "endpoints");
  const AllToAll setting{.endpoints = endpoints,
                         .per_peer = count_of(point, "connections") / (endpoints - 1),
                         .visit = count_of(point, "visit")};
  const auto runs = passes.all(all_to_all_traffic(setting, endpoints - 1));
  std::vector<double> kept;
  for (std::uint32_t pass = 0; pass < passes.count(); ++pass) {
    kept.push_back(mean_of(runs[pass].sent_m_per_s) / two_peer_rate(passes, setting, pass));
  }
  passes.add("rate / two-peer rate", "x", kept);
  passes.add("message rate", "M msg/s", rates_of_role("both", runs));
  passes.add_misses(runs);
}

/// One pass, of nine sizes of the set.
void run_onset(Passes& passes, const Point& point) {
  AllToAll setting{.endpoints = count_of(point, "endpoints"), .visit = count_of(point, "visit")};
  const auto peers = setting.endpoints - 1;
  std::vector<CurvePoint> curve;
  for (const std::uint32_t per_peer : {2, 4, 6, 8, 10, 12, 16, 20, 24}) {
    setting.per_peer = per_peer;
    const auto rate = mean_of(passes.one(all_to_all_traffic(setting, peers), 0).sent_m_per_s);
    curve.push_back({static_cast<double>(per_peer * peers), rate / two_peer_rate(passes, setting, 0)});
  }
  passes.add("onset", "connections", {fit_onset(curve).x});
  passes.add("rate / two-peer rate at the end", "x", {curve.back().y});
}

void run(Context& context, const Point& point, measure::Record& record) {
  if (point.path == "dc") {
    throw util::Error(
        "a profile has no figures for a DC destination's context: the paper prints two rates (0.95 of the two-peer "
        "rate at "
        "1984 DCI-peer pairs, 0.23 at 2976), and two points fix no curve",
        util::ErrorKind::kWaived, "the rc rows with visit=256, which have the same bursts");
  }
  Passes passes(context, record);
  if (count_of(point, "endpoints") == kDenseEndpoints) return run_onset(passes, point);
  run_kept(passes, point);
}

Variant row(const char* transport, std::int64_t visit, std::int64_t per_peer) {
  constexpr std::int64_t kEndpoints = 32;
  return {transport,
          "round-robin",
          {{"endpoints", kEndpoints}, {"visit", visit}, {"connections", (kEndpoints - 1) * per_peer}}};
}

std::vector<Variant> rows() {
  std::vector<Variant> all;
  for (const std::int64_t visit : {1, 256}) {
    for (const std::int64_t per_peer : {6, 16, 32, 48, 64, 80, 96}) all.push_back(row("rc", visit, per_peer));
  }
  all.push_back({"rc",
                 "round-robin",
                 {{"endpoints", std::int64_t{kDenseEndpoints}},
                  {"visit", std::int64_t{1}},
                  {"connections", std::string("254-3048")}}});
  for (const std::int64_t per_peer : {64, 96}) all.push_back(row("dc", 256, per_peer));
  return all;
}

}  // namespace

Experiment connections_all_to_all() {
  return {.name = "connections-all-to-all",
          .title = "Figure 10b, all-to-all traffic, as a model",
          .needs = kModelNeeds,
          .variants = rows(),
          .iterations = kPasses,
          .modelled = true,
          .run = run};
}

}  // namespace marrow::experiments
