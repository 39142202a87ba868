// SPDX-License-Identifier: Apache-2.0
// A comparison as people read it. Each kind of time has a table of its own.
#pragma once

#include <string>

#include "measure/compare.h"
#include "measure/people.h"

namespace marrow::measure {

struct CompareLook {
  Look look;
  CompareLimits limits;
  bool all = false;  // noise too; else it is only counted
};

[[nodiscard]] std::string comparison_text(const Comparison& comparison, const CompareLook& how);

}  // namespace marrow::measure
