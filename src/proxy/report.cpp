// SPDX-License-Identifier: Apache-2.0
// See report.h. Facts: cpufreq in sysfs, "cpu MHz" in /proc/cpuinfo [abi].
#include "proxy/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <fstream>

namespace marrow::proxy {
namespace {

constexpr std::array kFields{&WorkerCounters::requests,     &WorkerCounters::failed,        &WorkerCounters::posts,
                             &WorkerCounters::wrs,          &WorkerCounters::cqes,          &WorkerCounters::visits,
                             &WorkerCounters::empty_visits, &WorkerCounters::credit_stalls, &WorkerCounters::rounds,
                             &WorkerCounters::busy_ticks,   &WorkerCounters::ticks};
static_assert(sizeof(WorkerCounters) == kFields.size() * sizeof(std::uint64_t), "each counter has its field here");

constexpr char kNotExposed[] = "not exposed";

std::string cpufreq(unsigned core, const char* name) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/{}", core, name));
  std::string line;
  std::getline(file, line);
  return line;
}

/// "2500.123" of the processor with this number.
std::string cpuinfo_mhz(unsigned core) {
  std::ifstream file("/proc/cpuinfo");
  bool mine = false;
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (line.starts_with("processor")) mine = line.substr(colon + 2) == std::to_string(core);
    if (mine && line.starts_with("cpu MHz")) return line.substr(colon + 2);
  }
  return {};
}

std::string place_sentence(const WorkersReport& report) {
  std::vector<unsigned> cores;
  bool shared = false;
  for (const auto& worker : report.workers) {
    if (!worker.place.pinned) return "not pinned";
    cores.push_back(worker.place.core);
    shared = shared || worker.place.shared;
  }
  const auto& first = report.workers.front();
  const auto node = first.place.numa_node < 0 ? "" : fmt::format(" of NUMA node {}", first.place.numa_node);
  return fmt::format("on core{} {}{}{} (governor {}, clock {})", cores.size() == 1 ? "" : "s", fmt::join(cores, ", "),
                     node, shared ? ", which they share" : "", first.core.governor, first.core.clock);
}

}  // namespace

WorkerCounters& operator+=(WorkerCounters& to, const WorkerCounters& more) {
  for (const auto field : kFields) to.*field += more.*field;
  return to;
}

WorkerCounters snapshot(const WorkerCounters& of) {
  WorkerCounters copy;
  for (const auto field : kFields) copy.*field = __atomic_load_n(&(of.*field), __ATOMIC_RELAXED);
  return copy;
}

CoreState read_core(unsigned core) {
  CoreState state{kNotExposed, kNotExposed};
  const auto khz = cpufreq(core, "scaling_cur_freq");
  const auto mhz = cpuinfo_mhz(core);
  if (!khz.empty()) {
    state.clock = fmt::format("{} MHz", std::stoul(khz) / 1000);
  } else if (!mhz.empty()) {
    state.clock = mhz + " MHz";
  }
  if (const auto governor = cpufreq(core, "scaling_governor"); !governor.empty()) state.governor = governor;
  return state;
}

WorkerCounters WorkersReport::total() const {
  WorkerCounters all;
  for (const auto& worker : workers) all += worker.counters;
  return all;
}

std::string WorkersReport::sentence() const {
  if (workers.empty()) return "no workers";
  return fmt::format("{} worker{} {}", workers.size(), workers.size() == 1 ? "" : "s", place_sentence(*this));
}

}  // namespace marrow::proxy
