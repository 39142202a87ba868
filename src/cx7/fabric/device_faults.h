// SPDX-License-Identifier: Apache-2.0
// Faults that are the device's own and not a link's: a receiver that is not ready for a while, CQEs that come late,
// doorbells that are looked at late, queue pairs that start near the wrap of their PSN. The n-th message, CQE or
// doorbell is treated as the seed says. Asked by the data path, only where such faults were asked for.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "cx7/fabric/fault_plan.h"
#include "cx7/fabric/link_counters.h"

namespace marrow::cx7 {

/// The engine thread's, or of who holds its lock.
class DeviceFaults {
 public:
  using Time = std::chrono::nanoseconds;

  DeviceFaults(FaultPlan plan, LinkCounters& counters);

  /// True where a message that wants a receive finds none, whatever is posted.
  [[nodiscard]] bool withholds_receive(Time now);
  /// How late the next CQE is; 0: not at all.
  [[nodiscard]] Time holds_cqe();
  /// How late the doorbell that has just been seen is taken; 0: not at all.
  [[nodiscard]] Time overlooks_doorbell();
  /// What a queue pair begins with, in both directions, whatever it was told.
  [[nodiscard]] std::optional<std::uint32_t> first_psn() const { return first_psn_; }
  [[nodiscard]] LinkCounters& counters() { return counters_; }

 private:
  Time draw(FaultKind kind);

  FaultPlan plan_;
  LinkCounters& counters_;
  std::array<std::uint64_t, static_cast<std::size_t>(FaultKind::kStart) + 1> drawn_{};  // by kind
  std::optional<std::uint32_t> first_psn_;
  Time storm_until_{0};
};

}  // namespace marrow::cx7
