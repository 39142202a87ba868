// SPDX-License-Identifier: Apache-2.0
// See path_map.h.
#include "cx7/shim/path_map.h"

#include <algorithm>
#include <cstdint>

#include "cx7/fw/port.h"
#include "cx7/shim/tree.h"

namespace marrow::cx7 {
namespace {

constexpr int kDeviceCount = 2;

bool is_at_or_below(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

bool is_pci_entry(std::string_view path) {
  if (!path.starts_with(kPciDevices)) return false;
  path.remove_prefix(kPciDevices.size());
  for (int device = 0; device < kDeviceCount; ++device) {
    if (is_at_or_below(path, device_facts(static_cast<std::uint8_t>(device)).pci_address)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string_view> tidy_path(std::string_view path, std::span<char> room) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool after_slash = at > 0 && room[at - 1] == '/';
    const bool is_dot = path[i] == '.' && (i + 1 == path.size() || path[i + 1] == '/');
    if (after_slash && (path[i] == '/' || is_dot)) continue;
    if (at + 1 >= room.size()) return std::nullopt;
    room[at++] = path[i];
  }
  if (at > 1 && room[at - 1] == '/') --at;
  return std::string_view(room.data(), at);
}

bool is_in_tree(std::string_view tidy) {
  const auto holds = [&](std::string_view directory) { return is_at_or_below(tidy, directory); };
  return std::ranges::any_of(kTakenOver, holds) || is_pci_entry(tidy);
}

std::optional<int> device_of_node(std::string_view tidy) {
  if (!is_at_or_below(tidy, kNodes) || tidy.size() == kNodes.size()) return std::nullopt;
  tidy.remove_prefix(kNodes.size() + 1);
  for (int device = 0; device < kDeviceCount; ++device) {
    if (tidy == device_facts(static_cast<std::uint8_t>(device)).node) return device;
  }
  return std::nullopt;
}

std::string_view without_tree(std::string_view tree, std::string_view path) {
  if (tree.empty() || !is_at_or_below(path, tree) || path.size() == tree.size()) return path;
  return path.substr(tree.size());
}

}  // namespace marrow::cx7
