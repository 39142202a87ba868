// SPDX-License-Identifier: Apache-2.0
// The bulk traffic of the experiments with a probe: 64 lanes at each end, as many as the paper's background CTAs, each
// with 128 to 256 messages of 8 bytes under way: so many that a queue they share does not run empty while a sender
// waits for its core.
#pragma once

#include "experiments/common/load/load_options.h"

namespace marrow::experiments {

inline constexpr std::uint32_t kBulkLanes = 64;
inline constexpr std::uint32_t kBulkWindow = 256;
// Host lanes: two of the probe, and a thread that plays the bulk lanes of each end.
inline constexpr unsigned kLoadThreads = 4;

[[nodiscard]] inline CargoShape bulk_cargo(std::uint32_t lanes = kBulkLanes) {
  return {.lanes = lanes, .places = kBulkWindow};
}

/// T workers, R rings and B requests a post, as they stand in a row's axes.
[[nodiscard]] inline ProxyShape bulk_proxy(const Point& point, std::uint32_t lanes = kBulkLanes) {
  return {.workers = static_cast<std::uint32_t>(point.number("workers")),
          .rings = static_cast<std::uint32_t>(point.number("rings")),
          .batch = static_cast<std::uint32_t>(point.number("batch")),
          .lanes = lanes};
}
[[nodiscard]] inline Crowd bulk_crowd(const ProxyShape& shape) {
  return {.lanes = kLoadThreads, .workers = 2 * shape.workers};
}

/// The axes of a row of mini-proxy.
[[nodiscard]] inline Variant proxy_row(std::int64_t workers, std::int64_t rings, std::int64_t batch) {
  return {"mini-proxy", std::string(proxy::Tuned::name), {{"workers", workers}, {"rings", rings}, {"batch", batch}}};
}

}  // namespace marrow::experiments
