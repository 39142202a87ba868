// SPDX-License-Identifier: Apache-2.0
// The tool with the trial experiments, a machine with two imaginary devices, and a NIC that cannot be made ready when
// MARROW_TRIAL_NIC says so. Of its one imaginary GPU nothing can be had,
// and with MARROW_TRIAL_GPU its lanes are CPU threads. Under three of the paper's names, for suites,
// it has experiments that pass, crash and are slow.
#include "cli/tool.h"
#include "cli/trial_experiments.h"

namespace {

std::vector<marrow::experiments::Experiment> experiments(bool of_a_suite) {
  auto list = marrow::experiments::trial_experiments();
  if (!of_a_suite) return list;
  for (auto& experiment : list) {
    if (experiment.name == "passes") experiment.name = "single-op";
    if (experiment.name == "crashes") experiment.name = "ordering";
    if (experiment.name == "is-slow") experiment.name = "timer-check";
  }
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  const bool suite = argc > 1 && std::string_view(argv[1]) == "suite";
  const marrow::cli::Tool tool{.experiments = experiments(suite),
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
                                 if (std::getenv("MARROW_TRIAL_GPU") != nullptr) return nullptr;
                                 if (index == 0) throw Error("no GPU in this trial", ErrorKind::kWaived, "--lane host");
                                 throw Error("no GPU 7 here: there is only GPU 0", ErrorKind::kUsage, "--lane gpu:0");
                               }};
  return marrow::cli::run_tool(tool, std::vector<std::string>(argv + 1, argv + argc));
}
