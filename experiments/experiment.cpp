// SPDX-License-Identifier: Apache-2.0
// Small parts of experiment.h.
#include "experiments/experiment.h"

#include <algorithm>
#include <thread>

#include "model/profile.h"
#include "util/env.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

template <typename T>
const T& value_of(const Point& point, std::string_view name) {
  const auto at =
      std::find_if(point.axes.begin(), point.axes.end(), [&](const auto& axis) { return axis.name == name; });
  if (at != point.axes.end()) {
    if (const auto* value = std::get_if<T>(&at->value)) return *value;
  }
  throw util::Error("the point has no axis '" + std::string(name) + "' of that type");
}

}  // namespace

std::int64_t Point::number(std::string_view axis) const {
  return value_of<std::int64_t>(*this, axis);
}
const std::string& Point::text(std::string_view axis) const {
  return value_of<std::string>(*this, axis);
}

bool has_strict_nic(const Context& context) {
  return context.nic_kind == measure::Kind::kCx7Sim && util::env_switch("MARROW_SIM_STRICT", true);
}

unsigned spinning_threads(const Context& context, unsigned lanes) {
  return lanes + (context.nic_kind == measure::Kind::kCx7Sim ? 1 : 0);
}

unsigned usable_cores() {
  return std::max(1U, std::thread::hardware_concurrency());
}

bool is_crowded(const Context& context, unsigned lanes) {
  return spinning_threads(context, lanes) > usable_cores();
}

void run_on_lane(const Experiment& experiment, Context& context, const Point& point, measure::Record& record) {
  if (context.gpu == nullptr || experiment.modelled) return experiment.run(context, point, record);
  if (!experiment.run_on_gpu) {
    throw util::Error(experiment.name + " has no gpu lane", util::ErrorKind::kWaived, "--lane host");
  }
  experiment.run_on_gpu(context, point, record);
}

measure::Record blank_record(const Experiment& experiment, const Point& point, const Context& context) {
  measure::Record record{.experiment = experiment.name, .axes = point.axes, .path = point.path, .policy = point.policy};
  record.nic = context.nic;
  if (experiment.modelled) {
    record.lane = "none";
    if (context.profile) record.nic = "model:" + context.profile->name;
    return record;
  }
  record.lane = context.gpu != nullptr ? "gpu" : "host";
  record.engine = context.engine;
  if (context.clock != nullptr) record.clock = context.clock->name();
  return record;
}

}  // namespace marrow::experiments
