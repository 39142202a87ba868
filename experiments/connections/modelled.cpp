// SPDX-License-Identifier: Apache-2.0
// See modelled.h. Where the paper does not state a number, it is marked as a guess and stands in docs/connections.md.
#include "experiments/connections/modelled.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "util/error.h"

namespace marrow::experiments {
namespace {

const model::Profile& profile_of(const Context& context) {
  if (context.profile) return *context.profile;
  throw util::Error(
      "it is computed from a NIC's profile, and none was named; measuring it needs several nodes, each with a GPU and "
      "a "
      "ConnectX-7, and as many endpoints as the pattern has peers",
      util::ErrorKind::kWaived, "--profile cx7-200g");
}

/// Ends a row that was given up between two runs of the model.
void stop_if_asked(const Context& context) {
  if (context.stopping()) throw util::Error("stopped between two passes of the model");
}

}  // namespace

model::Traffic role_traffic(const std::string& role, std::uint32_t connections) {
  constexpr std::uint32_t kEndpoints = 8;
  model::Traffic traffic{.pattern = model::Pattern::kEverybody, .endpoints = kEndpoints, .peers = kPeers};
  if (role == "send") traffic.pattern = model::Pattern::kOneToMany;
  if (role == "receive") traffic.pattern = model::Pattern::kManyToOne;
  traffic.connections_per_peer = connections / kPeers;
  traffic.warps = std::min(kWarps, traffic.connections_per_peer);
  traffic.writes_per_visit = 32;
  return traffic;
}

model::Traffic all_to_all_traffic(const AllToAll& setting, std::uint32_t peers) {
  return {.pattern = model::Pattern::kEverybody,
          .endpoints = setting.endpoints,
          .peers = peers,
          .connections_per_peer = setting.per_peer,
          .warps = setting.per_peer,
          .writes_per_visit = setting.visit};
}

Passes::Passes(const Context& context, measure::Record& record) : context_(context), record_(record) {
  const auto& profile = profile_of(context);
  record_.warmup.reset();
  if (!context.report_path) return;
  context.report_path({.nic = fmt::format("a model, not a NIC: profile {}, {}", profile.name, profile.of),
                       .link_layer = fmt::format("modelled, {} GB/s each way", profile.link_gb_per_s),
                       .doorbell = fmt::format("modelled, one in {} ns an endpoint", profile.doorbell_ns),
                       .registration = "none: no memory is moved",
                       .lane = "none: nothing is submitted",
                       .clock = "simulated time in picoseconds"});
}

model::Rates Passes::one(model::Traffic traffic, std::uint32_t pass) const {
  stop_if_asked(context_);
  traffic.seed = pass + 1;
  return model::steady_rates(*context_.profile, traffic);
}

std::vector<model::Rates> Passes::all(const model::Traffic& traffic) {
  std::vector<model::Rates> passes;
  for (std::uint32_t pass = 0; pass < count(); ++pass) {
    passes.push_back(one(traffic, pass));
    record_.counts.operations += passes.back().messages;
  }
  return passes;
}

void Passes::add(const std::string& name, const std::string& unit, const std::vector<double>& values) {
  record_.metrics.push_back({name, unit, measure::Kind::kModel, measure::summarise(values)});
}

void Passes::add_misses(const std::vector<model::Rates>& passes) {
  std::vector<double> send;
  std::vector<double> receive;
  for (const auto& rates : passes) {
    send.push_back(rates.send_misses);
    receive.push_back(rates.receive_misses);
  }
  add("send entries missed a message", "x", send);
  add("receive entries missed a message", "x", receive);
}

std::vector<double> rates_of_role(const std::string& role, const std::vector<model::Rates>& passes) {
  std::vector<double> rates;
  for (const auto& pass : passes) {
    const auto& mine = role == "receive" ? pass.received_m_per_s : pass.sent_m_per_s;
    rates.insert(rates.end(), mine.begin(), mine.end());
  }
  return rates;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median_of(std::vector<double> values) {
  return measure::summarise(values).p50;
}

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (auto& value : values) value *= factor;
  return values;
}

std::uint32_t count_of(const Point& point, std::string_view axis) {
  return static_cast<std::uint32_t>(point.number(axis));
}

}  // namespace marrow::experiments
