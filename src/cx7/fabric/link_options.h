// SPDX-License-Identifier: Apache-2.0
// What a user may ask of the links; empty means plain links that lose nothing.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cx7/fabric/fault_plan.h"

namespace marrow::cx7 {

/// A file with what this process sends and receives (capture.h), and how packets are to look in it.
struct CaptureOptions {
  std::string file;  // empty: no capture; %p stands for the process's number
  bool infiniband = false;
  std::array<std::uint16_t, 2> lids{};       // of the devices, on InfiniBand
  std::array<std::uint32_t, 2> addresses{};  // of the devices, on RoCE
};

struct LinkOptions {
  /// Addresses of this host that its devices have on the network (udp_ports.h), device 0 first; none: no other hosts.
  std::vector<std::uint32_t> addresses;
  CaptureOptions capture;
  FaultPlan faults;
};

}  // namespace marrow::cx7
