// SPDX-License-Identifier: Apache-2.0
// What of the hardware a row's record and path tell beside what the experiment itself found: the GPU by NVML, and where
// GPU and NIC sit.
#pragma once

#include <optional>
#include <string>

#include "experiments/experiment.h"
#include "gpu/watch.h"

namespace marrow::cli {

/// Adds the GPU's identity and limits and the place of GPU and NIC; of what is not known the reason.
void add_hardware(const experiments::Context& context, measure::ActivePath& path);

/// Watches the GPU of gpu lanes from its making on. On host lanes it does nothing.
class RowWatch {
 public:
  explicit RowWatch(const experiments::Context& context);
  /// Puts what was seen into the record, and warnings where the row's times suffer from it.
  void finish(measure::Record& record);

 private:
  std::optional<gpu::Watch> watch_;
  measure::GpuState state_;
  bool on_gpu_ = false;
};

/// \param looks  the first before the row, the last after it.
[[nodiscard]] measure::GpuState state_of(const std::vector<gpu::NvmlLook>& looks);

}  // namespace marrow::cli
