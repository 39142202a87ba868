// SPDX-License-Identifier: Apache-2.0
// See pinning.h.
#include "proxy/pinning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>
#include <hwloc/openfabrics-verbs.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>

#include "util/error.h"

namespace marrow::proxy {
namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
  void operator()(hwloc_bitmap_s* set) const { hwloc_bitmap_free(set); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;
using Set = std::unique_ptr<hwloc_bitmap_s, Destroy>;

Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw util::system_error("look at this machine's cores", errno);
  Topology topology(raw);
  if (hwloc_topology_load(raw) != 0) throw util::system_error("look at this machine's cores", errno);
  return topology;
}

[[noreturn]] void refuse(const std::string& sentence, const std::string& hint = {}) {
  throw util::Error(sentence, util::ErrorKind::kUsage, hint);
}

int numa_node_of(ibv_context* device) {
  if (device == nullptr) return -1;
  std::ifstream file(fmt::format("{}/device/numa_node", device->device->ibdev_path));
  int node = -1;
  file >> node;
  return file ? node : -1;
}

hwloc_obj_t find_node(const Topology& topology, int node) {
  const auto found = hwloc_get_numanode_obj_by_os_index(topology.get(), static_cast<unsigned>(node));
  if (found == nullptr) {
    refuse(fmt::format("there is no NUMA node {}: this machine has {}", node,
                       hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE)));
  }
  return found;
}

/// Cores near the device or of the node that was asked for, as far as this thread may use them.
Set usable_cores(const Topology& topology, const WorkersOptions& options, ibv_context* device) {
  Set set(hwloc_bitmap_alloc()), allowed(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology.get(), allowed.get(), HWLOC_CPUBIND_THREAD) != 0) {
    throw util::system_error("ask which cores this thread may use", errno);
  }
  if (options.numa_node >= 0) {
    hwloc_bitmap_copy(set.get(), find_node(topology, options.numa_node)->cpuset);
  } else if (device == nullptr || hwloc_ibv_get_device_cpuset(topology.get(), device->device, set.get()) != 0) {
    hwloc_bitmap_copy(set.get(), hwloc_topology_get_topology_cpuset(topology.get()));
  }
  hwloc_bitmap_and(set.get(), set.get(), allowed.get());
  return set;
}

/// The k-th hyperthread of each core, for k = 0, 1, ...; from the last core down.
std::vector<unsigned> in_order(const Topology& topology, const Set& set) {
  std::vector<unsigned> order;
  const int cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE);
  const auto wanted = static_cast<std::size_t>(hwloc_bitmap_weight(set.get()));
  for (unsigned k = 0; order.size() < wanted; ++k) {
    const auto before = order.size();
    for (int c = cores - 1; c >= 0; --c) {
      const auto core = hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_CORE, static_cast<unsigned>(c));
      Set mine(hwloc_bitmap_dup(core->cpuset));
      hwloc_bitmap_and(mine.get(), mine.get(), set.get());
      int thread = hwloc_bitmap_first(mine.get());
      for (unsigned i = 0; i < k && thread >= 0; ++i) thread = hwloc_bitmap_next(mine.get(), thread);
      if (thread >= 0) order.push_back(static_cast<unsigned>(thread));
    }
    if (order.size() == before) break;
  }
  return order;
}

void require_cores(const WorkersOptions& options, const Set& allowed) {
  for (const auto core : options.cores) {
    if (hwloc_bitmap_isset(allowed.get(), core) == 0) {
      refuse(fmt::format("there is no core {} that this process may use", core));
    }
    if (!options.oversubscribe && std::ranges::count(options.cores, core) > 1) {
      refuse(fmt::format("core {} is named for two workers", core), "oversubscribe");
    }
  }
}

std::vector<unsigned> choose_cores(const Topology& topology, const WorkersOptions& options, ibv_context* device) {
  if (!options.cores.empty()) {
    require_cores(options, usable_cores(topology, {}, nullptr));
    return options.cores;
  }
  auto order = in_order(topology, usable_cores(topology, options, device));
  const auto there = order.size();
  if (there == 0) {
    refuse(options.numa_node >= 0 ? fmt::format("this process may use no core of NUMA node {}", options.numa_node)
                                  : "this process may use no core near the device");
  }
  if (there < options.workers && !options.oversubscribe) {
    refuse(fmt::format("{} workers, and this process may use {} core{} there", options.workers, there,
                       there == 1 ? "" : "s"),
           "oversubscribe, or fewer workers");
  }
  for (std::size_t i = there; i < options.workers; ++i) order.push_back(order[i - there]);
  order.resize(options.workers);
  return order;
}

int node_of_core(const Topology& topology, unsigned core) {
  for (hwloc_obj_t node = nullptr;;) {
    node = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_NUMANODE, node);
    if (node == nullptr) return -1;
    if (hwloc_bitmap_isset(node->cpuset, core) != 0) return static_cast<int>(node->os_index);
  }
}

}  // namespace

std::vector<WorkerPlace> choose_places(const WorkersOptions& options, ibv_context* device) {
  const int nic_node = numa_node_of(device);
  std::vector<WorkerPlace> places(options.workers, WorkerPlace{.nic_numa_node = nic_node});
  if (!options.pin) return places;
  const auto topology = load_topology();
  const auto cores = choose_cores(topology, options, device);
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i].pinned = true;
    places[i].core = cores[i];
    places[i].numa_node = node_of_core(topology, cores[i]);
    places[i].shared = std::ranges::count(cores, cores[i]) > 1;
  }
  return places;
}

int pin_this_thread(unsigned core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

}  // namespace marrow::proxy
