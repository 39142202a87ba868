// SPDX-License-Identifier: Apache-2.0
// See hardware.h.
#include "cli/hardware.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/device.h"
#include "measure/pci_place.h"
#include "util/error.h"

namespace marrow::cli {
namespace {

std::string limits_text(const gpu::NvmlFacts& facts) {
  std::string text;
  if (facts.most_sm_mhz) text = fmt::format("SM clock up to {} MHz", *facts.most_sm_mhz);
  if (facts.power_limit_w) text += fmt::format("{}power cap {:.0f} W", text.empty() ? "" : ", ", *facts.power_limit_w);
  return text;
}

void add_gpu(const gpu::Device& device, measure::ActivePath& path) {
  try {
    const auto facts = gpu::Nvml(device.facts().pci).facts();
    path.gpu_uuid = facts.uuid;
    path.gpu_limits = limits_text(facts);
  } catch (const util::Error& problem) {
    path.unknown.push_back({"gpu_uuid", problem.what()});
    path.unknown.push_back({"gpu_limits", problem.what()});
  }
}

}  // namespace

void add_hardware(const experiments::Context& context, measure::ActivePath& path) {
  if (context.gpu) add_gpu(*context.gpu, path);
  path.place = measure::place_of(context.gpu ? context.gpu->facts().pci : "", path.nic_pci);
  if (!path.nic_pci.empty()) return;
  const bool software = context.nic_kind == measure::Kind::kCx7Sim;
  path.unknown.push_back({"nic_pci", software ? "the software NIC is on no PCIe bus" : "the kernel does not show it"});
  if (path.place.empty())
    path.unknown.push_back({"place", "neither GPU nor NIC of this run is on a PCIe bus that is shown"});
}

measure::GpuState state_of(const std::vector<gpu::NvmlLook>& looks) {
  measure::GpuState state{.looks = looks.size()};
  for (const auto& look : looks) {
    if (!look.idle()) state.sm_mhz.add(look.sm_mhz);
    state.memory_mhz.add(look.memory_mhz);
    state.power_w.add(look.power_w);
    state.temperature_c.add(look.temperature_c);
    for (const auto name : gpu::slowing(look.reasons.value_or(0))) {
      if (std::find(state.slowed_by.begin(), state.slowed_by.end(), name) == state.slowed_by.end())
        state.slowed_by.emplace_back(name);
    }
  }
  return state;
}

RowWatch::RowWatch(const experiments::Context& context) : on_gpu_(context.gpu != nullptr) {
  if (!on_gpu_) return;
  try {
    const auto& pci = context.gpu->facts().pci;
    state_.power_limit_w = gpu::Nvml(pci).facts().power_limit_w;
    watch_.emplace(pci);
  } catch (const util::Error& problem) {
    state_.unknown = problem.what();
  }
}

void RowWatch::finish(measure::Record& record) {
  if (!on_gpu_) return;
  if (watch_) {
    const auto limit = state_.power_limit_w;
    state_ = state_of(watch_->finish());
    state_.power_limit_w = limit;
  }
  record.gpu_state = state_;
  for (auto&& warning : measure::warnings_of(state_)) record.warnings.push_back(std::move(warning));
}

}  // namespace marrow::cli
