// SPDX-License-Identifier: Apache-2.0
// The paper's experiments on what many connections cost a NIC. It takes hundreds of NICs to measure them; here a model
// computes them from a NIC's profile (src/model, docs/connections.md), and each figure says so.
#pragma once

#include "experiments/experiment.h"

namespace marrow::experiments {

[[nodiscard]] Experiment connections_role();
[[nodiscard]] Experiment connections_reuse_payload();
[[nodiscard]] Experiment connections_all_to_all();
[[nodiscard]] Experiment connections_controls();

}  // namespace marrow::experiments
