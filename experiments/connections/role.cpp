// SPDX-License-Identifier: Apache-2.0
// connections-role. Rows: what the NIC in the middle does, and how many connections it has each way.
#include "experiments/connections/connections.h"
#include "experiments/connections/modelled.h"

namespace marrow::experiments {
namespace {

void run(Context& context, const Point& point, measure::Record& record) {
  Passes passes(context, record);
  const auto& role = point.text("role");
  const auto runs = passes.all(role_traffic(role, count_of(point, "connections")));
  passes.add("message rate", "M msg/s", rates_of_role(role, runs));
  passes.add_misses(runs);
}

}  // namespace

Experiment connections_role() {
  const auto row = [](const char* role) {
    return Variant{"rc", "round-robin", {{"role", std::string(role)}, {"bytes", std::int64_t{8}}}};
  };
  return {.name = "connections-role",
          .title = "Figure 10a, active connections by role, as a model",
          .needs = kModelNeeds,
          .variants = {row("send"), row("receive"), row("both")},
          .sweeps = {{.name = "connections",
                      .meaning = "active queue pairs of the NIC, each way",
                      .values = {64, 1024, 2048, 4096, 8192, 16384, 32768},
                      .min = kPeers,
                      .max = 65536,
                      .step = kPeers}},
          .iterations = kPasses,
          .modelled = true,
          .run = run};
}

}  // namespace marrow::experiments
