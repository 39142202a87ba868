// SPDX-License-Identifier: Apache-2.0
// See lane.h.
#include "cli/lane.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>

#include "cli/closest.h"
#include "util/env.h"
#include "util/error.h"

namespace marrow::cli {
namespace {

constexpr const char* kEngineVariable = "MARROW_SIM_ENGINE";

[[noreturn]] void usage(const std::string& sentence, const std::string& hint) {
  throw util::Error(sentence, util::ErrorKind::kUsage, hint);
}

/// 0 of "gpu", N of "gpu:N"; none of any other word.
std::optional<int> gpu_index(const std::string& word) {
  if (word == "gpu") return 0;
  if (!word.starts_with("gpu:")) return std::nullopt;
  int index = 0;
  const auto* const end = word.data() + word.size();
  const auto [stop, problem] = std::from_chars(word.data() + 4, end, index);
  if (problem != std::errc{} || stop != end || index < 0) return std::nullopt;
  return index;
}

}  // namespace

LaneChoice choose_lane(const std::string& lane, const std::string& engine, const NicChoice& nic) {
  static const std::array<std::string, 3> lanes{"host", "gpu", "gpu:N"};
  LaneChoice choice{.gpu = gpu_index(lane), .engine = engine, .engine_gpu = gpu_index(engine)};
  if (!choice.gpu && lane != "host") {
    usage(fmt::format("no lane '{}'{}", lane, closest_text(lane, lanes)), "--lane host");
  }
  if (engine.empty()) return choice;
  if (!nic.software) {
    usage(fmt::format("{} is a real NIC, and only the software NIC has an engine to choose", nic.name),
          "--nic cx7-sim");
  }
  refuse_unknown_engine(engine);
  return choice;
}

void refuse_unknown_engine(const std::string& engine) {
  static const std::array<std::string, 4> engines{"auto", "cpu", "gpu", "gpu:N"};
  if (engine == "auto" || engine == "cpu" || gpu_index(engine)) return;
  usage(fmt::format("no engine '{}'{}", engine, closest_text(engine, engines)), "--engine auto");
}

void set_engine(const std::string& engine) {
  if (!engine.empty()) ::setenv(kEngineVariable, engine.c_str(), 1);
}

void describe(const LaneChoice& choice, const OpenGpu& open_gpu, experiments::Context& context) {
  const bool software = context.nic_kind == measure::Kind::kCx7Sim;
  if (software) context.engine = util::env_text(kEngineVariable).value_or("auto");
  if (choice.gpu) context.gpu = open_gpu(*choice.gpu);
  if (!choice.engine_gpu) return;
  context.engine_gpu = choice.gpu == choice.engine_gpu ? context.gpu : open_gpu(*choice.engine_gpu);
}

}  // namespace marrow::cli
