// SPDX-License-Identifier: Apache-2.0
// The tool with the experiments on connections and one that is measured, on a machine that has no NIC.
#include "cli/tool.h"
#include "experiments/connections/connections.h"

namespace {

marrow::experiments::Experiment measured() {
  return {.name = "is-measured",
          .title = "trial",
          .question = "What happens?",
          .needs = "nothing",
          .variants = {{"trial", "only", {}}},
          .iterations = 20,
          .run = [](marrow::experiments::Context&, const marrow::experiments::Point&, marrow::measure::Record& record) {
            record.metrics.push_back({"issue", "us", marrow::measure::Kind::kHostLane,
                                      marrow::measure::summarise(std::vector<double>{1, 2})});
            record.verified = true;
          }};
}

}  // namespace

int main(int count, char** words) {
  using namespace marrow;
  const cli::Tool tool{
      .experiments = {experiments::connections_role(), experiments::connections_controls(), measured()},
      .real_devices = [] { return std::vector<std::string>{}; },
      .make_ready = [](const cli::NicChoice&) {}};
  return cli::run_tool(tool, {words + 1, words + count});
}
