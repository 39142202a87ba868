// SPDX-License-Identifier: Apache-2.0
// What the driver told of the lanes' GPU while a row ran: its clocks, its power, and what held it down.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace marrow::measure {

/// One quantity over a row's looks: the first, which is before it, the last, which is after it, and the ends of all.
struct Course {
  std::optional<double> before, least, most, after;

  void add(std::optional<double> look);
};

struct GpuState {
  std::size_t looks = 0;
  Course sm_mhz;  // looks at an idle GPU apart: its clock is no row's
  Course memory_mhz;
  Course power_w;
  Course temperature_c;
  std::optional<double> power_limit_w;
  std::vector<std::string> slowed_by;  // in any look
  std::string unknown;                 // why nothing of this is known; else empty
};

/// Of several processes one after the other.
[[nodiscard]] GpuState pooled(const GpuState& first, const GpuState& second);

/// What a reader of the row's times must know: a clock that moved by more than 2 %, a GPU that was slowed.
[[nodiscard]] std::vector<std::string> warnings_of(const GpuState& state);

[[nodiscard]] nlohmann::ordered_json to_json(const GpuState& state);
/// \throws nlohmann::json::exception when a key is missing or of the wrong type.
[[nodiscard]] GpuState gpu_state_from_json(const nlohmann::ordered_json& json);

}  // namespace marrow::measure
