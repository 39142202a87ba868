// SPDX-License-Identifier: Apache-2.0
// See crowd.h.
#include "experiments/common/load/crowd.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>

#include "util/error.h"

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kSpinsInACrowd = 32;
constexpr std::chrono::microseconds kNapInACrowd{20};

}  // namespace

void require_cores(unsigned workers) {
  if (workers <= usable_cores()) return;
  throw util::Error(fmt::format("{} workers want a core each, and this process may use {}", workers, usable_cores()),
                    util::ErrorKind::kWaived, fmt::format("a machine with {} cores", workers));
}

void suit_crowd(proxy::WorkersOptions& options, const Context& context, const Crowd& crowd) {
  if (!is_crowded(context, crowd.threads())) return;
  options.pin = false;
  options.idle = proxy::Idle::kNap;
  options.spins_before_nap = kSpinsInACrowd;
  options.nap = kNapInACrowd;
}

std::vector<unsigned> free_cores(const std::vector<unsigned>& taken) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<unsigned> cores;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
  for (unsigned core = CPU_SETSIZE; core-- > 0;) {
    const bool is_taken = std::find(taken.begin(), taken.end(), core) != taken.end();
    if (CPU_ISSET(core, &allowed) && !is_taken) cores.push_back(core);
  }
  return cores;
}

std::string crowd_text(const Context& context, const Crowd& crowd) {
  const bool software = context.nic_kind == measure::Kind::kCx7Sim;
  const auto cores = usable_cores();
  auto text = fmt::format("{} lane{}, {} worker{}{} on {} core{}", crowd.lanes, crowd.lanes == 1 ? "" : "s",
                          crowd.workers, crowd.workers == 1 ? "" : "s",
                          software ? " and the software NIC's thread" : "", cores, cores == 1 ? "" : "s");
  if (is_crowded(context, crowd.threads())) {
    text += "; more threads than cores, so waits give the core away and medians and tails may show the scheduler";
  }
  return text;
}

}  // namespace marrow::experiments
