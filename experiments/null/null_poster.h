// SPDX-License-Identifier: Apache-2.0
// A poster that does nothing, for the loop of all single puts (put_loop.h): what that loop then measures is its own.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/common/poster.h"

namespace marrow::experiments {

class NullPoster {
 public:
  using Policy = gda::GpuFence;  // of a queue whose dump would be told; there is none

  NullPoster() = default;
  MARROW_HD NullPoster(const gda::Qp&, const Route&) {}

  MARROW_HD void prepare(std::uint64_t) {}
  MARROW_HD void post() noexcept {}
  [[nodiscard]] MARROW_HD bool wait() noexcept { return true; }
  [[nodiscard]] MARROW_HD gda::Result result() const noexcept { return {}; }
  [[nodiscard]] static std::string failure() { return "nothing was put"; }
};

}  // namespace marrow::experiments
