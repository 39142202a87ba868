// SPDX-License-Identifier: Apache-2.0
// Choice of NIC. Facts: a device is a folder of /sys/class/infiniband, and an mlx5 one is called mlx5_N unless renamed
// [abi]; the driver's name is where its link leads [obs].
#include "cli/nic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "cli/closest.h"
#include "cli/words.h"
#include "util/error.h"
#ifdef MARROW_HAS_CX7
#include "cx7/shim/control.h"
#endif

namespace marrow::cli {
namespace {

constexpr const char* kDevices = "/sys/class/infiniband";

/// Names that only the software NIC gives: seen when the tool itself runs under `marrow sim`.
bool is_simulated(const std::string& device) {
  return device.starts_with("mlx5_sim");
}

#ifdef MARROW_HAS_CX7
std::uint64_t count_of(std::string_view name) {
  constexpr int kMost = 256;
  std::array<marrow_cx7_stat, kMost> stats{};
  std::uint64_t sum = 0;
  for (const int device : {0, 1, MARROW_CX7_ENGINE}) {
    const int n = std::min(marrow_cx7_stats(device, stats.data(), kMost), kMost);
    for (int i = 0; i < n; ++i) {
      if (stats[static_cast<std::size_t>(i)].name == name) sum += stats[static_cast<std::size_t>(i)].value;
    }
  }
  return sum;
}
#endif

}  // namespace

std::vector<std::string> real_devices() {
  std::vector<std::string> names;
  std::error_code problem;
  for (std::filesystem::directory_iterator at(kDevices, problem), end; !problem && at != end; at.increment(problem)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

NicChoice choose_nic(const std::string& wanted, const std::vector<std::string>& real) {
  const NicChoice software{.name = kSoftwareNic, .devices = {"mlx5_sim0", "mlx5_sim1"}, .software = true};
  if (wanted == kSoftwareNic) return software;
  if (wanted.empty()) {
    const auto mlx5 = std::find_if(real.begin(), real.end(), [](const auto& name) { return name.starts_with("mlx5"); });
    if (mlx5 == real.end() || is_simulated(*mlx5)) return software;
    return {.name = *mlx5, .devices = {*mlx5, *mlx5}};
  }
  auto devices = split_at_commas(wanted);
  for (const auto& device : devices) {
    if (std::find(real.begin(), real.end(), device) != real.end()) continue;
    auto known = real;
    known.insert(known.begin(), kSoftwareNic);
    throw util::Error(fmt::format("no NIC '{}' on this machine{}", device, closest_text(device, known)),
                      util::ErrorKind::kUsage, "--nic cx7-sim, which needs nothing");
  }
  if (devices.size() > 2) {
    throw util::Error(fmt::format("--nic takes one device or two, not {}", devices.size()), util::ErrorKind::kUsage);
  }
  if (devices.size() == 1) devices.push_back(devices.front());
  const bool simulated = std::any_of(devices.begin(), devices.end(), is_simulated);
  return {.name = wanted, .devices = devices, .software = simulated};
}

void make_ready(const NicChoice& choice) {
  if (!choice.software) return;
#ifdef MARROW_HAS_CX7
  if (marrow_cx7_enable() != 0) throw util::Error(fmt::format("the software NIC: {}", marrow_cx7_error()));
#else
  throw util::Error("this binary was built without the software NIC", util::ErrorKind::kWaived);
#endif
}

void describe(const NicChoice& choice, experiments::Context& context) {
  context.nic = choice.name;
  context.devices = choice.devices;
  context.nic_kind = choice.software ? measure::Kind::kCx7Sim : measure::Kind::kNic;
#ifdef MARROW_HAS_CX7
  if (choice.name == kSoftwareNic) context.nic_count = count_of;
#endif
}

}  // namespace marrow::cli
