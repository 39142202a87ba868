// SPDX-License-Identifier: Apache-2.0
// Where GPU and NIC sit: their NUMA nodes, and what lies between them on PCIe. Every write of the NIC into GPU memory
// and every doorbell of a GPU thread goes that way.
#pragma once

#include <string>

namespace marrow::measure {

/// \param gpu, nic  places on PCIe, "0000:19:00.0"; either may be empty.
/// \returns "GPU 0000:19:00.0 at NUMA node 0, NIC 0000:1a:00.0 at NUMA node 0, under one PCIe switch", as far as this
/// machine shows it; empty when both are.
[[nodiscard]] std::string place_of(const std::string& gpu, const std::string& nic);

}  // namespace marrow::measure
