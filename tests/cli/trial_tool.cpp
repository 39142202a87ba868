// SPDX-License-Identifier: Apache-2.0
// The tool with the trial experiments, a machine with two imaginary devices, and a NIC that cannot be made ready when
// MARROW_TRIAL_NIC says so.
#include "cli/tool.h"
#include "cli/trial_experiments.h"

int main(int argc, char** argv) {
  const marrow::cli::Tool tool{.experiments = marrow::experiments::trial_experiments(),
                               .real_devices =
                                   [] {
                                     return std::vector<std::string>{"mlx5_0", "rxe0"};
                                   },
                               .make_ready =
                                   [](const marrow::cli::NicChoice&) {
                                     const auto* broken = std::getenv("MARROW_TRIAL_NIC");
                                     if (broken != nullptr) throw marrow::util::Error("the NIC is on fire");
                                   }};
  return marrow::cli::run_tool(tool, std::vector<std::string>(argv + 1, argv + argc));
}
