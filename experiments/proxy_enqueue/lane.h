// SPDX-License-Identifier: Apache-2.0
// A lane that hands descriptors over, on a CPU or a GPU, with its worker behind it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "marrow/proxy/probe.h"

namespace marrow::experiments::enqueue {

inline constexpr std::uint32_t kBlock = 128;   // hand-overs before the other hand-off has its turn
inline constexpr std::uint32_t kDepth = 1024;  // of the ring

/// Nanoseconds of one hand-over.
struct Times {
  double enqueue = 0;
  double answer = 0;  // the same until the worker's answer has been seen
};

class Lane {
 public:
  Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  virtual ~Lane() = default;

  /// The next kBlock descriptors. \throws util::Error when one was not answered.
  [[nodiscard]] virtual std::vector<Times> hand_over() = 0;
  /// The same, counted instead of timed.
  [[nodiscard]] virtual proxy::Counts count() = 0;
  /// \throws util::Error unless the worker has seen each descriptor once, and as it was.
  virtual void verify() const = 0;
  [[nodiscard]] virtual measure::ActivePath path() const = 0;
};

/// `hand_off` names one of proxy::HandOffSteps. \throws util::Error.
[[nodiscard]] std::unique_ptr<Lane> host_lane(Context& context, const std::string& hand_off);
/// With CUDA only.
[[nodiscard]] std::unique_ptr<Lane> gpu_lane(Context& context, const std::string& hand_off);

using MakeLane = std::unique_ptr<Lane> (*)(Context&, const std::string&);
void measure_enqueue(MakeLane make, Context& context, const Point& point, measure::Record& record);

/// Empty in a build without CUDA.
[[nodiscard]] std::function<void(Context&, const Point&, measure::Record&)> on_gpu();

}  // namespace marrow::experiments::enqueue
