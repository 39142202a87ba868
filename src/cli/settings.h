// SPDX-License-Identifier: Apache-2.0
// From options to what the runner is told; `run` and `suite` share it.
#pragma once

#include "cli/passes.h"
#include "cli/tool.h"

namespace marrow::cli {

/// `tool` must outlive what is returned. \throws util::Error of kind kUsage for an unknown lane or engine.
[[nodiscard]] RunSettings settings_for(const Tool& tool, const RunOptions& options, const NicChoice& nic);

[[nodiscard]] PassOptions passes_of(const RunOptions& options);

}  // namespace marrow::cli
