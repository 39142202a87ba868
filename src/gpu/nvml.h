// SPDX-License-Identifier: Apache-2.0
// What the driver's management library tells of a GPU: identity, clocks, power, what slows it; and locking its SM
// clock, which only sm-clock asks for. Loaded when it is first asked, so that nothing needs it to build or to start.
// Facts: names, signatures and numbers of NVML's functions [prm: NVML API reference].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace marrow::gpu {

/// What does not change while a program runs. What NVML does not tell is empty.
struct NvmlFacts {
  std::string name;
  std::string uuid;
  std::string driver;
  std::optional<unsigned> most_sm_mhz;
  std::optional<double> power_limit_w;  // in force
};

/// One look. What NVML does not tell is empty.
struct NvmlLook {
  std::optional<unsigned> sm_mhz;
  std::optional<unsigned> memory_mhz;
  std::optional<double> power_w;
  std::optional<unsigned> temperature_c;
  std::optional<std::uint64_t> reasons;  // why the clock is what it is: a mask

  [[nodiscard]] bool idle() const { return reasons.has_value() && (*reasons & 1) != 0; }
};

/// Names of what holds the clock down: not that the GPU is idle or that a user set its clock.
[[nodiscard]] std::vector<std::string_view> slowing(std::uint64_t reasons);

/// One GPU. Any thread may call.
class Nvml {
 public:
  /// \param bus_id  its place on PCIe: "0000:19:00.0".
  /// \throws util::Error of kind kWaived where the library cannot be loaded or used, or does not know the GPU.
  explicit Nvml(const std::string& bus_id);

  [[nodiscard]] const std::string& bus_id() const { return bus_id_; }
  [[nodiscard]] NvmlFacts facts() const;
  [[nodiscard]] NvmlLook look() const;

  /// SM clocks that the GPU can be locked to at its present memory clock, the highest first.
  /// \throws util::Error where NVML does not tell.
  [[nodiscard]] std::vector<unsigned> sm_clocks() const;
  /// \throws util::Error of kind kWaived where this user may not, kFailed for anything else.
  void lock_sm_clock(unsigned mhz) const;
  /// Back to the driver's own choice. \throws util::Error likewise.
  void reset_sm_clock() const;

 private:
  std::string bus_id_;
  void* device_ = nullptr;
};

}  // namespace marrow::gpu
