// SPDX-License-Identifier: Apache-2.0
// The tool with the trial experiments, a machine with two imaginary devices, and a NIC that cannot be made ready when
// MARROW_TRIAL_NIC says so. Of its one imaginary GPU nothing can be had.
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
                                   },
                               .open_gpu = [](int index) -> std::shared_ptr<marrow::gpu::Device> {
                                 using marrow::util::Error;
                                 using marrow::util::ErrorKind;
                                 if (index == 0) throw Error("no GPU in this trial", ErrorKind::kWaived, "--lane host");
                                 throw Error("no GPU 7 here: there is only GPU 0", ErrorKind::kUsage, "--lane gpu:0");
                               }};
  return marrow::cli::run_tool(tool, std::vector<std::string>(argv + 1, argv + argc));
}
