// SPDX-License-Identifier: Apache-2.0
// What one row of proxy-rate is made of, for both lanes.
#pragma once

#include "experiments/common/load/limit.h"
#include "experiments/common/load/proxy_end.h"

namespace marrow::experiments {

inline constexpr std::uint32_t kRateRings = 32;  // as in the paper at one worker
inline constexpr std::uint32_t kRateSendDepth = 512;

struct RateSetUp {
  std::uint32_t workers = 1;
  std::uint32_t batch = 1;
  std::uint32_t messages = 1024;  // of a ring, in one repetition: a power of two
};

[[nodiscard]] inline CargoShape cargo_of(const RateSetUp& set_up) {
  return {.lanes = kRateRings, .places = set_up.messages};
}
[[nodiscard]] inline ProxyShape shape_of(const RateSetUp& set_up) {
  return {.workers = set_up.workers,
          .rings = kRateRings,
          .batch = set_up.batch,
          .depth = set_up.messages,  // so that lanes need not run beside the workers
          .send_depth = std::max(kRateSendDepth, 2 * set_up.batch),
          .lanes = kRateRings,
          .both = false,
          .reserved = proxy::Reserved::kNo};
}

/// One batch's repetitions.
struct ProxyRates {
  std::vector<double> per_ns;
  Busy busy;
  std::uint64_t messages = 0;
};

/// Adds the rate, that of batch 1 beside it, their ratio, who was the limit, and what is expected of them.
/// \param gpu  its name; empty on host lanes.
void add_proxy_rates(const Context& context, const RateSetUp& set_up, const ProxyRates& mine, const ProxyRates& single,
                     const std::string& gpu, measure::Record& record);

}  // namespace marrow::experiments
