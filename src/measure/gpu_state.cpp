// SPDX-License-Identifier: Apache-2.0
// See gpu_state.h.
#include "measure/gpu_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace marrow::measure {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMovedShare = 0.02;

struct Quantity {
  const char* key;
  Course GpuState::*course;
};
constexpr std::array<Quantity, 4> kQuantities{{{"sm_mhz", &GpuState::sm_mhz},
                                               {"memory_mhz", &GpuState::memory_mhz},
                                               {"power_w", &GpuState::power_w},
                                               {"temperature_c", &GpuState::temperature_c}}};

struct Look {
  const char* key;
  std::optional<double> Course::*value;
};
constexpr std::array<Look, 4> kLooks{
    {{"before", &Course::before}, {"least", &Course::least}, {"most", &Course::most}, {"after", &Course::after}}};

Json number(std::optional<double> value) {
  return value ? Json(*value) : Json(nullptr);
}
std::optional<double> number_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

Json course_json(const Course& course) {
  Json json = Json::object();
  for (const auto& look : kLooks) json[look.key] = number(course.*look.value);
  return json;
}

Course course_of(const Json& json) {
  Course course;
  for (const auto& look : kLooks) course.*look.value = number_of(json.at(look.key));
  return course;
}

Course pooled(const Course& first, const Course& second) {
  Course both = first;
  for (const auto& value : {second.before, second.least, second.most, second.after}) both.add(value);
  return both;
}

}  // namespace

void Course::add(std::optional<double> look) {
  if (!look) return;
  if (!before) before = look;
  least = std::min(least.value_or(*look), *look);
  most = std::max(most.value_or(*look), *look);
  after = look;
}

GpuState pooled(const GpuState& first, const GpuState& second) {
  GpuState both = first;
  both.looks += second.looks;
  for (const auto& quantity : kQuantities)
    both.*quantity.course = pooled(first.*quantity.course, second.*quantity.course);
  if (!both.power_limit_w) both.power_limit_w = second.power_limit_w;
  for (const auto& name : second.slowed_by) {
    if (std::find(both.slowed_by.begin(), both.slowed_by.end(), name) == both.slowed_by.end())
      both.slowed_by.push_back(name);
  }
  if (both.unknown.empty()) both.unknown = second.unknown;
  return both;
}

std::vector<std::string> warnings_of(const GpuState& state) {
  std::vector<std::string> warnings;
  const auto& clock = state.sm_mhz;
  if (clock.least && *clock.most > *clock.least * (1 + kMovedShare)) {
    warnings.push_back(
        fmt::format("the SM clock moved between {:.0f} and {:.0f} MHz while the row ran, by NVML's {} looks",
                    *clock.least, *clock.most, state.looks));
  }
  if (!state.slowed_by.empty()) {
    warnings.push_back(fmt::format("the GPU was held down while the row ran: {}", fmt::join(state.slowed_by, ", ")));
  }
  return warnings;
}

Json to_json(const GpuState& state) {
  Json json{{"looks", state.looks}};
  for (const auto& quantity : kQuantities) json[quantity.key] = course_json(state.*quantity.course);
  json["power_limit_w"] = number(state.power_limit_w);
  json["slowed_by"] = state.slowed_by;
  json["unknown"] = state.unknown;
  return json;
}

GpuState gpu_state_from_json(const Json& json) {
  GpuState state{.looks = json.at("looks")};
  for (const auto& quantity : kQuantities) state.*quantity.course = course_of(json.at(quantity.key));
  state.power_limit_w = number_of(json.at("power_limit_w"));
  state.slowed_by = json.at("slowed_by").get<std::vector<std::string>>();
  state.unknown = json.at("unknown");
  return state;
}

}  // namespace marrow::measure
