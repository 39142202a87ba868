// SPDX-License-Identifier: Apache-2.0
// Who posts, and who plays the NIC: --lane and --engine, from words to a context that is ready.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/nic.h"
#include "experiments/experiment.h"

namespace marrow::cli {

struct LaneChoice {
  std::optional<int> gpu;         // the lanes' GPU; none: host lanes
  std::string engine;             // "auto", "cpu", "gpu", "gpu:1"; empty: not said
  std::optional<int> engine_gpu;  // the GPU that the engine is to be
};

/// \param lane    "host", "gpu" or "gpu:N".
/// \param engine  "", "auto", "cpu", "gpu" or "gpu:N"; only the software NIC has one.
/// \throws util::Error of kind kUsage for anything else.
[[nodiscard]] LaneChoice choose_lane(const std::string& lane, const std::string& engine, const NicChoice& nic);

/// \throws util::Error of kind kUsage for a word that is no engine.
void refuse_unknown_engine(const std::string& engine);

/// The software NIC reads its engine from the environment when it is switched on: call before that.
void set_engine(const std::string& engine);

using OpenGpu = std::function<std::shared_ptr<gpu::Device>(int index)>;

/// Opens the GPUs of the choice for this process. \throws util::Error when one is not there or cannot be used.
void describe(const LaneChoice& choice, const OpenGpu& open_gpu, experiments::Context& context);

}  // namespace marrow::cli
