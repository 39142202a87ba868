// SPDX-License-Identifier: Apache-2.0
// The two ends of the experiments under load: a buffer each, in which both ends have everything at the same place:
// mailboxes of the probe, then what the sending lanes send, then what arrives.
#pragma once

#include <cstdint>
#include <memory>

#include "experiments/common/bundle.h"
#include "experiments/common/load/cargo.h"

namespace marrow::experiments {

enum class End : std::uint8_t { kNear, kFar };
[[nodiscard]] constexpr End other(End end) {
  return end == End::kNear ? End::kFar : End::kNear;
}

/// What the sending lanes of an end need.
struct CargoShape {
  std::uint32_t lanes = 1;
  std::uint32_t places = 64;  // of a lane
  std::uint32_t bytes = 8;    // of a place

  [[nodiscard]] std::size_t lane_bytes() const { return std::size_t{places} * bytes; }
  [[nodiscard]] std::size_t all_bytes() const { return (lanes * lane_bytes() + 4095) / 4096 * 4096; }
};

class LoadEnds {
 public:
  /// \param queue  with 0 queues an end has none of mini-gda's.
  LoadEnds(const Context& context, const CargoShape& cargo, BundleOptions options, const BenchMemory& memory);

  [[nodiscard]] const BundleEnd& end(End end) const { return end == End::kNear ? *near_ : *far_; }
  [[nodiscard]] const CargoShape& shape() const { return cargo_; }
  /// Of a lane at end `from`.
  [[nodiscard]] Cargo cargo(End from, std::uint32_t lane) const;

  /// The probe's words, and how they get from end `from` to the other.
  [[nodiscard]] Mailbox box(End end) const;
  [[nodiscard]] Route trip_route(End from) const;

 private:
  CargoShape cargo_;
  std::unique_ptr<BundleEnd> near_;
  std::unique_ptr<BundleEnd> far_;
};

inline constexpr std::size_t kProbeOutgoingAt = 0;
inline constexpr std::size_t kProbeIncomingAt = 256;

/// The parts of the active path that do not depend on who the lanes are.
[[nodiscard]] measure::ActivePath active_path(const Context& context, const LoadEnds& ends);

}  // namespace marrow::experiments
