// SPDX-License-Identifier: Apache-2.0
// Which lane of which warp watches a queue pair, and which keeps its CQ. Queue pairs that share a CQ share a warp,
// which numbers the CQEs; otherwise the emptiest warp takes the next one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "cx7/cuda/tables.h"

namespace marrow::cx7::cuda {

struct Seat {
  std::uint32_t warp = 0;
  std::uint32_t lane = 0;
  std::uint32_t cq_lane = 0;
  bool new_cq = false;
};

class Seats {
 public:
  /// Empty when the warp that must take it, or every warp, is full.
  [[nodiscard]] std::optional<Seat> take(std::uint64_t cq);
  void give_back(const Seat& seat, std::uint64_t cq);
  /// Whether a lane numbers this CQ's entries, as a send CQ.
  [[nodiscard]] bool keeps(std::uint64_t cq) const { return kept_.contains(cq); }

 private:
  struct KeptCq {
    std::uint32_t warp = 0;
    std::uint32_t lane = 0;
    std::uint32_t users = 0;
  };
  [[nodiscard]] std::optional<std::uint32_t> emptiest() const;

  std::array<std::uint32_t, kWarps> queues_{};  // a bit a lane
  std::array<std::uint32_t, kWarps> cqs_{};
  std::unordered_map<std::uint64_t, KeptCq> kept_;
};

}  // namespace marrow::cx7::cuda
