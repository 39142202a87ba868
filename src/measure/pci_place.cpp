// SPDX-License-Identifier: Apache-2.0
// See pci_place.h. Facts: hwloc hangs a PCI device below its bridges and the bridges below the cores that they are near
// to; a bridge whose upstream side is no PCI is the host's [prm: hwloc 2]. Its plugins for CUDA, NVML and the like are
// left out: they would start a driver for what sysfs tells.
#include "measure/pci_place.h"

#include <fmt/format.h>
#include <hwloc.h>

#include <array>
#include <vector>

namespace marrow::measure {
namespace {

hwloc_topology_t load() {
  constexpr std::array<const char*, 6> kLeftOut{"cuda", "nvml", "opencl", "gl", "rsmi", "levelzero"};
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  for (const auto* name : kLeftOut)
    (void)hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, name);
  (void)hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(topology) == 0) return topology;
  hwloc_topology_destroy(topology);
  return nullptr;
}

/// Of this machine; some tens of milliseconds, once a process. Null when hwloc cannot tell.
hwloc_topology_t topology() {
  static hwloc_topology_t const loaded = load();
  return loaded;
}

hwloc_obj_t find(const std::string& bus_id) {
  if (topology() == nullptr || bus_id.empty()) return nullptr;
  return hwloc_get_pcidev_by_busidstring(topology(), bus_id.c_str());
}

std::string node_text(hwloc_obj_t device) {
  if (device == nullptr) return "not shown by this machine";
  const auto near = hwloc_get_non_io_ancestor_obj(topology(), device);
  const bool one = near != nullptr && near->nodeset != nullptr && hwloc_bitmap_weight(near->nodeset) == 1;
  return one ? fmt::format("at NUMA node {}", hwloc_bitmap_first(near->nodeset)) : "near no single NUMA node";
}

hwloc_obj_t common_ancestor(hwloc_obj_t a, hwloc_obj_t b) {
  std::vector<hwloc_obj_t> above;
  for (auto at = a; at != nullptr; at = at->parent) above.push_back(at);
  for (auto at = b; at != nullptr; at = at->parent) {
    for (const auto& other : above) {
      if (at == other) return at;
    }
  }
  return nullptr;
}

/// What a packet between two devices passes.
std::string between(hwloc_obj_t a, hwloc_obj_t b) {
  const auto common = common_ancestor(a, b);
  if (common == nullptr) return "";
  if (common->type == HWLOC_OBJ_BRIDGE) {
    const bool of_host = common->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
    return of_host ? ", under one host bridge" : ", under one PCIe switch";
  }
  const int packages = hwloc_get_nbobjs_inside_cpuset_by_type(topology(), common->cpuset, HWLOC_OBJ_PACKAGE);
  return packages > 1 ? ", across CPU packages" : ", under two host bridges of one CPU package";
}

}  // namespace

std::string place_of(const std::string& gpu, const std::string& nic) {
  const auto of_gpu = find(gpu);
  const auto of_nic = find(nic);
  std::string text;
  if (!gpu.empty()) text = fmt::format("GPU {} {}", gpu, node_text(of_gpu));
  if (!nic.empty()) text += fmt::format("{}NIC {} {}", text.empty() ? "" : ", ", nic, node_text(of_nic));
  return of_gpu != nullptr && of_nic != nullptr ? text + between(of_gpu, of_nic) : text;
}

}  // namespace marrow::measure
