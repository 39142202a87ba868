// SPDX-License-Identifier: Apache-2.0
// Several queues between two ends that share device, protection domain and buffer: for experiments on rates and on
// waiting for many queues. What Bench is for one queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiments/common/bench.h"

namespace marrow::experiments {

/// Whether writes of one queue may pass each other on their way into the far buffer. kRelaxed registers it with
/// IBV_ACCESS_RELAXED_ORDERING; then no two writes under way may have the same target.
enum class FarOrder : std::uint8_t { kStrict, kRelaxed };

struct BundleOptions {
  std::uint32_t queues = 1;
  std::size_t buffer_bytes = verbs::Memory::kAlign;  // of each end
  FarOrder far = FarOrder::kStrict;
  verbs::DevxQpOptions queue = {};  // of the near end; the far end posts nothing
};

/// One side. Stays where it was made: the queues refer to the context.
struct BundleEnd {
  BundleEnd(const std::string& device, const BundleOptions& options, const BenchMemory& memory);
  BundleEnd(const BundleEnd&) = delete;
  BundleEnd& operator=(const BundleEnd&) = delete;

  verbs::Context context;
  verbs::Pd pd;
  std::unique_ptr<verbs::Memory> memory;
  verbs::Mr mr;
  std::vector<verbs::DevxQp> queues;
};

/// Queue i of end a is connected to queue i of end b. Each has a doorbell register of its own.
class Bundle {
 public:
  Bundle(const Context& context, const BundleOptions& options, const BenchMemory& memory);

  [[nodiscard]] const BundleEnd& a() const { return *a_; }
  [[nodiscard]] const BundleEnd& b() const { return *b_; }
  [[nodiscard]] FarOrder far() const { return far_; }

 private:
  FarOrder far_;
  std::unique_ptr<BundleEnd> a_;
  std::unique_ptr<BundleEnd> b_;
};

/// The parts of the active path that do not depend on who the lanes are.
[[nodiscard]] measure::ActivePath active_path(const Context& context, const Bundle& bundle);
/// Reports the path of host lanes.
void report_path(const Context& context, const Bundle& bundle);

}  // namespace marrow::experiments
