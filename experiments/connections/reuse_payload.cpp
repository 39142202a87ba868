// SPDX-License-Identifier: Apache-2.0
// connections-reuse-payload. Rows: writes of a visit, and bytes of a write, with sending alone beside both ways at
// once.
#include "experiments/connections/connections.h"
#include "experiments/connections/modelled.h"

namespace marrow::experiments {
namespace {

model::Traffic traffic_of(const Point& point, const std::string& role) {
  auto traffic = role_traffic(role, count_of(point, "connections"));
  traffic.writes_per_visit = count_of(point, "visit");
  traffic.bytes = count_of(point, "bytes");
  return traffic;
}

void run(Context& context, const Point& point, measure::Record& record) {
  Passes passes(context, record);
  const auto& role = point.text("role");
  const auto runs = passes.all(traffic_of(point, role));
  const auto rates = rates_of_role(role, runs);
  const double gb_per_message = static_cast<double>(point.number("bytes")) * 1e-3;
  passes.add("message rate", "M msg/s", rates);
  passes.add("goodput", "GB/s", scaled(rates, gb_per_message));
  if (role != "both") return;
  std::vector<double> kept;
  for (std::uint32_t pass = 0; pass < passes.count(); ++pass) {
    const auto alone = passes.one(traffic_of(point, "send"), pass).sent_m_per_s.front();
    kept.push_back(median_of(runs[pass].sent_m_per_s) / alone);
  }
  passes.add("goodput / send-only goodput", "x", kept);
}

Variant row(const char* role, std::int64_t visit, std::int64_t bytes, std::int64_t connections) {
  return {"rc",
          "round-robin",
          {{"role", std::string(role)}, {"visit", visit}, {"bytes", bytes}, {"connections", connections}}};
}

std::vector<Variant> rows() {
  std::vector<Variant> all;
  for (const std::int64_t visit : {1, 32, 8192}) {
    for (const std::int64_t connections : {1024, 2048, 4096}) all.push_back(row("both", visit, 8, connections));
  }
  for (const std::int64_t bytes : {128, 256, 4096}) all.push_back(row("both", 32, bytes, 4096));
  for (const std::int64_t bytes : {8, 128, 256, 4096}) all.push_back(row("send", 32, bytes, 4096));
  return all;
}

}  // namespace

Experiment connections_reuse_payload() {
  return {.name = "connections-reuse-payload",
          .title = "Figure 10a and Table 16, reuse of connections and payload, as a model",
          .needs = kModelNeeds,
          .variants = rows(),
          .iterations = kPasses,
          .modelled = true,
          .run = run};
}

}  // namespace marrow::experiments
