// SPDX-License-Identifier: Apache-2.0
// The tool: the catalogue of experiments, the machine's devices and the software NIC, handed to run_tool().
#include "cli/tool.h"
#include "experiments/catalogue.h"

int main(int argc, char** argv) {
  const marrow::cli::Tool tool{.experiments = marrow::experiments::catalogue(),
                               .real_devices = marrow::cli::real_devices,
                               .make_ready = marrow::cli::make_ready};
  return marrow::cli::run_tool(tool, std::vector<std::string>(argv + 1, argv + argc));
}
