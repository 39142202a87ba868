// SPDX-License-Identifier: Apache-2.0
// See seats.h.
#include "cx7/cuda/seats.h"

#include <bit>

namespace marrow::cx7::cuda {
namespace {

std::uint32_t first_free(std::uint32_t taken) {
  return static_cast<std::uint32_t>(std::countr_one(taken));
}

}  // namespace

std::optional<std::uint32_t> Seats::emptiest() const {
  std::optional<std::uint32_t> best;
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    if (first_free(queues_[warp]) == kLanes || first_free(cqs_[warp]) == kLanes) continue;
    if (!best || std::popcount(queues_[warp]) < std::popcount(queues_[*best])) best = warp;
  }
  return best;
}

std::optional<Seat> Seats::take(std::uint64_t cq) {
  const auto kept = kept_.find(cq);
  const bool new_cq = kept == kept_.end();
  const auto warp = new_cq ? emptiest() : kept->second.warp;
  if (!warp || first_free(queues_[*warp]) == kLanes) return std::nullopt;
  Seat seat{.warp = *warp, .lane = first_free(queues_[*warp]), .cq_lane = 0, .new_cq = new_cq};
  queues_[*warp] |= 1u << seat.lane;
  if (new_cq) {
    seat.cq_lane = first_free(cqs_[*warp]);
    cqs_[*warp] |= 1u << seat.cq_lane;
    kept_[cq] = {.warp = *warp, .lane = seat.cq_lane, .users = 1};
  } else {
    seat.cq_lane = kept->second.lane;
    ++kept->second.users;
  }
  return seat;
}

void Seats::give_back(const Seat& seat, std::uint64_t cq) {
  queues_[seat.warp] &= ~(1u << seat.lane);
  const auto kept = kept_.find(cq);
  if (kept == kept_.end() || --kept->second.users != 0) return;
  cqs_[seat.warp] &= ~(1u << kept->second.lane);
  kept_.erase(kept);
}

}  // namespace marrow::cx7::cuda
