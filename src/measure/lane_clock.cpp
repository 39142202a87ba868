// SPDX-License-Identifier: Apache-2.0
// Choice and calibration of the clock; what it is and why stands in lane_clock.h.
#include "measure/lane_clock.h"

#include <fmt/format.h>

#include <array>
#include <fstream>

#include "measure/statistics.h"

namespace marrow::measure {
namespace {

bool tsc_is_a_clock() {
#if defined(__x86_64__)
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("flags")) continue;
    return line.find(" constant_tsc") != std::string::npos && line.find(" nonstop_tsc") != std::string::npos &&
           line.find(" rdtscp") != std::string::npos;
  }
#endif
  return false;
}

}  // namespace

LaneClock::LaneClock(Source source) : tsc_(source == Source::kBest && tsc_is_a_clock()) {
  if (tsc_) calibrate();
  std::array<double, 255> readings{};
  for (auto& reading : readings) {
    const auto from = ticks();
    reading = ns(ticks() - from);
  }
  reading_ns_ = summarise(readings).p50;
}

LaneClock::Moment LaneClock::moment() const noexcept {
  constexpr int kTries = 16;
  Moment best;
  auto narrowest = ~std::uint64_t{0};
  for (int i = 0; i < kTries; ++i) {
    const auto before = monotonic();
    const auto now = ticks();
    const auto gap = monotonic() - before;
    if (gap >= narrowest) continue;
    narrowest = gap;
    best = {.ns = before + gap / 2, .ticks = now};
  }
  return best;
}

void LaneClock::calibrate() noexcept {
  constexpr std::uint64_t kSpanNs = 20'000'000;
  const auto from = moment();
  while (monotonic() - from.ns < kSpanNs) {
  }
  const auto to = moment();
  ns_per_tick_ = static_cast<double>(to.ns - from.ns) / static_cast<double>(to.ticks - from.ticks);
}

std::string LaneClock::name() const {
  if (tsc_) return fmt::format("TSC at {:.0f} MHz, {:.0f} ns a reading", 1e3 / ns_per_tick_, reading_ns_);
  return fmt::format("CLOCK_MONOTONIC, {:.0f} ns a reading", reading_ns_);
}

}  // namespace marrow::measure
