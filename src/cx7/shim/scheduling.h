// SPDX-License-Identifier: Apache-2.0
// What the engine thread asks of the kernel's scheduler, and what it can learn from it.
#pragma once

#include "cx7/shim/idle_policy.h"
#include "util/fd.h"

namespace marrow::cx7 {

/// Cores that this process may run on.
[[nodiscard]] unsigned usable_cores();

/// Makes the calling thread one that sleeps and wakes exactly. Refusals cost accuracy only.
void become_punctual();

/// Where Evidence comes from. Used by the engine thread; close() also in a forked child.
class EvidenceReader {
 public:
  void open();
  void close() { loadavg_.reset(); }
  /// About 2 us.
  [[nodiscard]] Evidence read() const;

 private:
  [[nodiscard]] bool is_crowded() const;

  util::UniqueFd loadavg_;
  unsigned cores_ = 1;
};

}  // namespace marrow::cx7
