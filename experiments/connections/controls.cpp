// SPDX-License-Identifier: Apache-2.0
// connections-controls. Rows: what else could explain the loss. The model has an answer to some of it; the rows that it
// has none for say so.
#include "experiments/connections/connections.h"
#include "experiments/connections/modelled.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

constexpr AllToAll kDense{.endpoints = 32, .per_peer = 96, .visit = 1};  // 2976 connections

model::Rates all_to_all(const Passes& passes, std::uint32_t pass, std::uint32_t depth, model::Order order) {
  auto traffic = all_to_all_traffic(kDense, kDense.endpoints - 1);
  traffic.depth = depth;
  traffic.order = order;
  return passes.one(traffic, pass);
}

/// How much the dense rate changes with the queues' depth, or with the order of the visits, against 1024 and
/// round-robin.
void run_dense(Passes& passes, const Point& point) {
  constexpr std::uint32_t kUsualDepth = 1024;
  const auto order = point.policy == "random" ? model::Order::kRandom : model::Order::kRoundRobin;
  std::vector<double> change;
  for (std::uint32_t pass = 0; pass < passes.count(); ++pass) {
    const double usual = mean_of(all_to_all(passes, pass, kUsualDepth, model::Order::kRoundRobin).sent_m_per_s);
    change.push_back(100 *
                     (mean_of(all_to_all(passes, pass, count_of(point, "depth"), order).sent_m_per_s) / usual - 1));
  }
  passes.add("change of rate", "%", change);
}

/// Against one sender with as many connections.
void run_role(Passes& passes, const Point& point) {
  const auto connections = count_of(point, "connections");
  std::vector<double> rate;
  std::vector<double> kept;
  for (std::uint32_t pass = 0; pass < passes.count(); ++pass) {
    const auto role = point.text("role");
    rate.push_back(median_of(passes.one(role_traffic(role, connections), pass).sent_m_per_s));
    kept.push_back(rate.back() / passes.one(role_traffic("send", 1024), pass).sent_m_per_s.front());
  }
  passes.add("message rate", "M msg/s", rate);
  passes.add("rate / one sender's with 1024", "x", kept);
}

void run(Context& context, const Point& point, measure::Record& record) {
  const auto& control = point.text("control");
  const auto waive = [](const char* why) { throw util::Error(why, util::ErrorKind::kWaived); };
  if (control == "queues in host memory") {
    waive(
        "a profile has one cost of a miss wherever queues lie; the paper's host queues keep 0.50 and 0.29 where its "
        "GPU "
        "queues keep 0.82 and 0.41");
  }
  if (control == "DCTs") waive("a profile has no figures for a DC destination's context");
  if (control == "packets and ACKs") {
    waive("the model sends one packet for each MTU of a message, loses none, and has no acknowledgements");
  }
  Passes passes(context, record);
  if (control == "depth" || control == "order") return run_dense(passes, point);
  run_role(passes, point);
}

std::vector<Variant> rows() {
  const auto axis = [](const char* name, std::int64_t value) { return measure::Axis{name, value}; };
  const auto control = [](const char* name) { return measure::Axis{"control", std::string(name)}; };
  std::vector<Variant> all;
  for (const std::int64_t depth : {64, 256, 4096}) {
    all.push_back({"rc", "round-robin", {control("depth"), axis("depth", depth), axis("connections", 2976)}});
  }
  all.push_back({"rc", "random", {control("order"), axis("depth", 1024), axis("connections", 2976)}});
  for (const auto* role : {"send", "both"}) {
    for (const std::int64_t connections : {1024, 2048, 7168}) {
      all.push_back(
          {"rc", "round-robin", {control("role"), {"role", std::string(role)}, axis("connections", connections)}});
    }
  }
  for (const auto* name : {"queues in host memory", "DCTs", "packets and ACKs"}) {
    all.push_back({"rc", "round-robin", {control(name)}});
  }
  return all;
}

}  // namespace

Experiment connections_controls() {
  return {.name = "connections-controls",
          .title = "Table 15, controls of the loss, as a model",
          .needs = kModelNeeds,
          .variants = rows(),
          .iterations = kPasses,
          .modelled = true,
          .run = run};
}

}  // namespace marrow::experiments
