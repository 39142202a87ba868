// SPDX-License-Identifier: Apache-2.0
// Filling and comparing on the host; the pattern is stamp.h's.
#include "experiments/common/stamped_payload.h"

#include <fmt/format.h>

#include <atomic>
#include <thread>

#include "util/clock.h"
#include "util/error.h"

namespace marrow::experiments {
std::uint64_t StampedPayload::stamp_next() noexcept {
  for (std::size_t at = 0; at < near_.size(); ++at) near_[at] = stamp_byte(next_, at);
  return stamp_word(next_++);
}

bool StampedPayload::arrived() const noexcept {
  std::atomic_thread_fence(std::memory_order_acquire);
  for (std::size_t at = 0; at < far_.size(); ++at) {
    if (std::atomic_ref(far_[at]).load(std::memory_order_relaxed) != stamp_byte(next_ - 1, at)) return false;
  }
  return true;
}

void StampedPayload::expect_arrived(std::chrono::nanoseconds limit) const {
  const auto until = util::now() + limit;
  while (!arrived()) {
    if (util::now() < until) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));  // not a yield: see gda::SpinLimit
      continue;
    }
    std::size_t at = 0;
    while (at + 1 < far_.size() && far_[at] == stamp_byte(next_ - 1, at)) ++at;
    throw util::Error(fmt::format("operation {}: byte {} of {} at the far side is 0x{:02x} and should be 0x{:02x}",
                                  next_ - 1, at, far_.size(), static_cast<unsigned>(far_[at]),
                                  static_cast<unsigned>(stamp_byte(next_ - 1, at))));
  }
}

}  // namespace marrow::experiments
