// SPDX-License-Identifier: Apache-2.0
// See settings.h.
#include "cli/settings.h"

#include "cli/lane.h"
#include "model/profile.h"

namespace marrow::cli {

RunSettings settings_for(const Tool& tool, const RunOptions& options, const NicChoice& nic) {
  const auto lane = choose_lane(options.lane, options.engine, nic);
  RunSettings settings{.iterations = options.iterations, .warmup = options.warmup, .timeout_s = options.timeout_s};
  settings.samples = options.samples || options.noise || options.runs > 1;
  if (!options.profile.empty()) {
    settings.profile = std::make_shared<const model::Profile>(model::find_profile(options.profile));
  }
  settings.lane = lane.gpu ? "gpu" : "host";
  settings.prepare = [&tool, lane, nic](experiments::Context& context) {
    set_engine(lane.engine);
    tool.make_ready(nic);
    describe(nic, context);
    describe(lane, tool.open_gpu, context);
  };
  return settings;
}

PassOptions passes_of(const RunOptions& options) {
  return {.runs = options.runs, .noise = options.noise, .limit_s = options.limit_s};
}

}  // namespace marrow::cli
