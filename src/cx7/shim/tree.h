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

/// The root port above device 0 and 1: what /sys/class/infiniband/NAME/device leads below.
inline constexpr std::array<std::string_view, 2> kRootPorts{"/sys/devices/pci0000:c0/0000:c0:01.1",
                                                            "/sys/devices/pci0000:c0/0000:c0:03.1"};
inline constexpr std::string_view kPciDevices = "/sys/bus/pci/devices/";
inline constexpr std::string_view kNodes = "/dev/infiniband";

/// Names the tree takes over besides the root ports and the two entries of kPciDevices: all devices that libibverbs
/// could find are ours, or none is.
inline constexpr std::array<std::string_view, 3> kTakenOver{"/sys/class/infiniband", "/sys/class/infiniband_verbs",
                                                            kNodes};

/// Folder of the tree for InfiniBand and for Ethernet ports, below the directory of the trees.
inline constexpr std::string_view kTreeOfInfiniBand = "ib";
inline constexpr std::string_view kTreeOfEthernet = "roce";

}  // namespace marrow::cx7
