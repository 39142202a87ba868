// SPDX-License-Identifier: Apache-2.0
// What a user may ask of the links; empty means plain links that lose nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace marrow::cx7 {

struct LinkOptions {
  /// Addresses of this host that its devices have on the network (udp_ports.h), device 0 first; none: no other hosts.
  std::vector<std::uint32_t> addresses;
};

}  // namespace marrow::cx7
