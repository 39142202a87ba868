// SPDX-License-Identifier: Apache-2.0
// The pattern of stamped_payload.h: a counter in 8-byte words, scrambled by an odd multiplier (a permutation of 2^64).
#include "experiments/common/stamped_payload.h"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "util/clock.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

constexpr std::uint64_t kScramble = 0x9e3779b97f4a7c15;

std::uint64_t word(std::uint64_t i, std::size_t number) {
  return (i + 1 + (static_cast<std::uint64_t>(number) << 40U)) * kScramble;
}

}  // namespace

std::byte stamp_byte(std::uint64_t i, std::size_t at) noexcept {
  return static_cast<std::byte>(word(i, at / 8) >> (at % 8 * 8));
}

std::uint64_t stamp_word(std::uint64_t i) noexcept {
  std::uint64_t value = 0;
  for (std::size_t at = 0; at < 8; ++at) {
    const auto byte = stamp_byte(i, at);
    std::memcpy(reinterpret_cast<std::byte*>(&value) + at, &byte, 1);
  }
  return value;
}

void StampedPayload::stamp_next() noexcept {
  for (std::size_t at = 0; at < near_.size(); ++at) near_[at] = stamp_byte(next_, at);
  ++next_;
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
