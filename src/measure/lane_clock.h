// SPDX-License-Identifier: Apache-2.0
// The clock of a host lane. A put's issue takes some tens of nanoseconds, so the clock must cost less than that: the
// CPU's time stamp counter where the kernel says that it runs at one rate and never stops, else CLOCK_MONOTONIC.
// Facts: constant_tsc and nonstop_tsc in /proc/cpuinfo [abi: kernel documentation of x86 flags]; the TSC's rate is
// measured against CLOCK_MONOTONIC for 20 ms, which is good to about 1 in 100,000 [obs: two calibrations compared].
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace marrow::measure {

class LaneClock {
 public:
  enum class Source { kBest, kMonotonic };

  /// Calibrates; takes 20 ms when the TSC is used.
  explicit LaneClock(Source source = Source::kBest);

  /// A reading in ticks. Earlier loads have been performed and earlier stores have been issued (not: are visible).
  [[nodiscard]] std::uint64_t ticks() const noexcept {
#if defined(__x86_64__)
    if (tsc_) {
      unsigned core = 0;
      return __rdtscp(&core);
    }
#endif
    return monotonic();
  }
  /// Nanoseconds of a difference of two readings.
  [[nodiscard]] double ns(std::uint64_t ticks) const noexcept {
    return static_cast<double>(ticks) * ns_per_tick_;
  }
  [[nodiscard]] double ns_per_tick() const noexcept {
    return ns_per_tick_;
  }
  [[nodiscard]] bool is_tsc() const noexcept {
    return tsc_;
  }

  /// The median cost of one reading: it is part of every time that is reported, and is not subtracted.
  [[nodiscard]] double reading_ns() const noexcept {
    return reading_ns_;
  }
  /// "TSC at 2100 MHz, 12 ns a reading"
  [[nodiscard]] std::string name() const;

 private:
  static std::uint64_t monotonic() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
  }
  /// Both clocks at one moment: of several tries the one least disturbed by the scheduler.
  struct Moment {
    std::uint64_t ns = 0;
    std::uint64_t ticks = 0;
  };
  [[nodiscard]] Moment moment() const noexcept;
  void calibrate() noexcept;

  bool tsc_ = false;
  double ns_per_tick_ = 1.0;
  double reading_ns_ = 0.0;
};

}  // namespace marrow::measure
