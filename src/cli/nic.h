// SPDX-License-Identifier: Apache-2.0
// Which NIC the two endpoints are on: the software ConnectX-7 inside this process, or real mlx5 devices.
#pragma once

#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace marrow::cli {

inline constexpr const char* kSoftwareNic = "cx7-sim";

struct NicChoice {
  std::string name;                  // for records
  std::vector<std::string> devices;  // two; the same one twice is loopback
  bool software = false;
};

/// \param wanted  what --nic said; empty picks a real mlx5 device if there is one, else the software NIC.
/// \param real    the machine's RDMA devices.
/// \throws util::Error of kind kUsage when a named device is not there.
[[nodiscard]] NicChoice choose_nic(const std::string& wanted, const std::vector<std::string>& real);

/// RDMA devices that the kernel shows, sorted by name. Opens nothing.
[[nodiscard]] std::vector<std::string> real_devices();

/// Makes the choice real for this process: switches the software NIC on where it was chosen. Call once, before any
/// device is opened. \throws util::Error when that does not work; kWaived when this binary has no software NIC.
void make_ready(const NicChoice& choice);

/// Fills a context's fields that depend on the choice.
void describe(const NicChoice& choice, experiments::Context& context);

}  // namespace marrow::cli
