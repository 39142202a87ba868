// SPDX-License-Identifier: Apache-2.0
// The loop behind every figure of a single put, on host lanes and GPU lanes: at most one is outstanding, as in the
// paper's Table 3. docs/measuring.md defines the metrics; the stamps of time are where this loop takes them.
#pragma once

#include <cstdint>

#include "marrow/wire/host_device.h"

namespace marrow::experiments {

/// Readings of a lane's clock around one put.
struct PutStamps {
  std::uint64_t start = 0;
  std::uint64_t issued = 0;     // the posting call has returned
  std::uint64_t completed = 0;  // the wait has returned
};

/// One put after another. The clerk does all that is not timed: it stamps and checks payloads, keeps times, and knows
/// when to stop. \returns how many puts it accepted.
template <class Clerk, class P>
MARROW_HD std::uint64_t puts(Clerk& clerk, P& poster, std::uint64_t operations) {
  for (std::uint64_t i = 0; i < operations; ++i) {
    if (clerk.stopping(i)) return i;
    poster.prepare(clerk.stamp_next());
    PutStamps stamps;
    stamps.start = clerk.ticks();
    poster.post();
    stamps.issued = clerk.ticks();
    const bool done = poster.wait();
    stamps.completed = clerk.ticks();
    if (!clerk.accept(poster, done, stamps)) return i;
  }
  return operations;
}

}  // namespace marrow::experiments
