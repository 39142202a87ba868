// SPDX-License-Identifier: Apache-2.0
// The other side of what callers send: takes every message, and says whether each arrived once. With CUDA only.
#pragma once

#include <memory>
#include <string>

#include "experiments/enclosing_kernel/caller_bench.h"

namespace marrow::experiments::enclosing {

class Traffic {
 public:
  Traffic() = default;
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;
  virtual ~Traffic() = default;

  /// Puts its handles into the job.
  virtual void join(Job& job) const = 0;
  /// Before a launch: what will be sent.
  virtual void expect(const Job& job) = 0;
  /// After a launch, outside its time: waits until everything has arrived. \throws util::Error when it has not, or
  /// not once each.
  virtual void settle(const Job& job) = 0;
  /// For headers and records.
  [[nodiscard]] virtual measure::ActivePath path() const = 0;
};

/// mini-gda: a queue of its own for each block, to one peer.
[[nodiscard]] std::unique_ptr<Traffic> gda_traffic(Context& context, const CallerBench& bench);
/// mini-proxy's device half: 32 rings, and CPU threads that take descriptors and answer at once, without a NIC.
[[nodiscard]] std::unique_ptr<Traffic> proxy_traffic(Context& context, const CallerBench& bench);

}  // namespace marrow::experiments::enclosing
