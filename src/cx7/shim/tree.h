// SPDX-License-Identifier: Apache-2.0
// Where things lie in the device tree, shared by its generator and by the hooks. The tree is data: built with the
// library, installed beside it, the same for every process, never written at run time; so nothing can be left behind.
// Facts: major 231, minors from 192 are uverbs [abi: Documentation/admin-guide/devices.txt]; layout of sysfs [obs].
#pragma once

#include <array>
#include <string_view>

namespace marrow::cx7 {

inline constexpr unsigned kUverbsMajor = 231;
inline constexpr unsigned kUverbsFirstMinor = 192;

/// A PCI domain that no machine has: its host bridge is ours alone, and with it everything that
/// /sys/class/infiniband/NAME/device leads to.
inline constexpr std::string_view kHostBridge = "/sys/devices/pci4d52:00";
inline constexpr std::array<std::string_view, 2> kRootPorts{"4d52:00:01.0", "4d52:00:02.0"};  // above device 0 and 1
inline constexpr std::string_view kPciDevices = "/sys/bus/pci/devices/";
inline constexpr std::string_view kNodes = "/dev/infiniband";

/// Names the tree takes over besides the devices' entries of kPciDevices: all devices that libibverbs could find are
/// ours, or none is.
inline constexpr std::array<std::string_view, 4> kTakenOver{"/sys/class/infiniband", "/sys/class/infiniband_verbs",
                                                            kNodes, kHostBridge};

/// Folder of the tree for InfiniBand and for Ethernet ports, and for these on a network; below the directory of the
/// trees.
inline constexpr std::string_view kTreeOfInfiniBand = "ib";
inline constexpr std::string_view kTreeOfEthernet = "roce";
inline constexpr std::string_view kTreeOfNetwork = "udp";

}  // namespace marrow::cx7
