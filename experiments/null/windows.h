// SPDX-License-Identifier: Apache-2.0
// Timed windows with nothing inside, beside readings of the clock in a straight line: from ticks to metrics, for both
// lanes. A window cannot cost less than the readings that make it, so what the harness adds is the difference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "experiments/common/put_loop.h"
#include "measure/record.h"

namespace marrow::experiments {

/// Three readings of a lane's clock, twice: by the loop of all single puts around a put that does nothing, and one
/// right after the other.
struct NullStamps {
  PutStamps window;
  PutStamps bare;
};

/// Adds the windows' times, the clock's reading, and what the windows have beyond their readings; the last in cycles
/// too where a tick is one.
void add_windows(measure::Record& record, measure::Kind kind, const std::vector<NullStamps>& stamps,
                 double ns_per_tick);

}  // namespace marrow::experiments
