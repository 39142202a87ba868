// SPDX-License-Identifier: Apache-2.0
// See clocks.h.
#include "gpu/clocks.h"
#include "gpu/launch.h"
#include "gpu/memory.h"

namespace marrow::gpu {
namespace {

struct ClockReading {
  Span span;
  std::uint64_t least_step_ns = 0;
};

struct ClockJob {
  ClockReading* reading;
  std::uint64_t span_ns;
};

__global__ void read_clocks(ClockJob job) {
  ClockReading reading;
  reading.least_step_ns = ~0ull;
  reading.span.begin();
  auto last = reading.span.from.ns;
  while (last - reading.span.from.ns < job.span_ns) {
    const auto now = gda::lane_clock_ns();
    if (now == last) continue;
    if (now - last < reading.least_step_ns) reading.least_step_ns = now - last;
    last = now;
  }
  reading.span.end();
  *job.reading = reading;
}

}  // namespace

Clocks measure_clocks(Device& device) {
  Array<ClockReading> reading(device, 1);
  const ClockJob job{.reading = reading.data(), .span_ns = 10'000'000};
  run(device, kernel_of(&read_clocks, "read_clocks"), {}, job, {.limit = std::chrono::seconds(5)});
  const auto seen = reading.read().front();
  constexpr double kNsPerUs = 1e3;
  return {.sm_mhz = kNsPerUs / seen.span.ns_per_tick(), .globaltimer_step_ns = static_cast<double>(seen.least_step_ns)};
}

}  // namespace marrow::gpu
