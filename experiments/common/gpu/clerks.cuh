// SPDX-License-Identifier: Apache-2.0
// The clerks of GPU lanes for the loops of put_loop.h and trip_loop.h: they stamp, check, and keep times in GPU memory.
// For .cu files. Nothing here is inside a timed window.
#pragma once

#include <cuda/atomic>

#include "experiments/common/gpu/jobs.h"
#include "experiments/common/stamp.h"
#include "marrow/gda/order.h"
#include "marrow/gda/team.h"

namespace marrow::experiments {

/// A word that the NIC, another lane or the host writes. Relaxed: what it says is all that is used.
template <class T>
[[nodiscard]] MARROW_HD inline T poll(const T* at) {
  return cuda::atomic_ref<T, cuda::thread_scope_system>(*const_cast<T*>(at)).load(cuda::memory_order_relaxed);
}
template <class T>
MARROW_HD inline void publish(T* at, T value) {
  cuda::atomic_ref<T, cuda::thread_scope_system>(*at).store(value, cuda::memory_order_release);
}

/// True once every 64 operations at most: the stop word is in host memory, and a look at it costs a microsecond.
[[nodiscard]] MARROW_HD inline bool is_stopped(const std::uint32_t* stop, std::uint64_t i) {
  return i % 64 == 0 && stop != nullptr && poll(stop) != 0;
}

/// Lets all earlier stores of this lane arrive, so that none of them is paid for by a fence inside a timed window.
MARROW_HD inline void settle() {
  gda::emit_fence<gda::FenceKind::kSystem>();
}

class PutClerk {
 public:
  MARROW_HD explicit PutClerk(const PutJob& job) : job_(job), next_(job.first), word_(stamp_word(job.first)) {}

  [[nodiscard]] MARROW_HD bool stopping(std::uint64_t i) const { return is_stopped(job_.stop, i); }

  MARROW_HD std::uint64_t stamp_next() {
    auto* words = reinterpret_cast<std::uint32_t*>(job_.route.from.addr);
    for (std::uint32_t at = 0; at < job_.route.bytes; at += 4) words[at / 4] = stamp_half(next_, at);
    settle();
    ++next_;
    const auto word = word_;
    word_ += stamp_word(1) - stamp_word(0);
    return word;
  }

  [[nodiscard]] MARROW_HD std::uint64_t ticks() const { return gda::lane_ticks(); }

  template <class P>
  MARROW_HD bool accept(P& poster, bool done, const PutStamps& stamps) {
    if (!done || !arrived()) return false;
    const auto i = next_ - 1 - job_.first;
    if (i < job_.warmup) return true;
    if (job_.stamps != nullptr) job_.stamps[i - job_.warmup] = stamps;
    if constexpr (requires { poster.probe().ticks; }) {
      for (std::uint32_t s = 0; s < gda::kStages; ++s) job_.stages[i - job_.warmup].ticks[s] = poster.probe().ticks[s];
      poster.probe() = {};
    }
    return true;
  }

 private:
  /// Byte by byte, four at a time. An acknowledged put may still be on its way to memory.
  MARROW_HD bool arrived() {
    constexpr std::uint64_t kLimitNs = 1'000'000'000;
    gda::SpinLimit limit(kLimitNs);
    for (std::uint32_t at = 0; at < job_.route.bytes; at += 4) {
      const auto* word = reinterpret_cast<const std::uint32_t*>(job_.far + at);
      const auto expected = stamp_half(next_ - 1, at);
      auto seen = poll(word);
      while (seen != expected && !limit.expired()) seen = poll(word);
      if (seen == expected) continue;
      job_.report->mismatch = {next_ - 1, job_.route.bytes, at, seen, expected};
      return false;
    }
    return true;
  }

  const PutJob& job_;
  std::uint64_t next_;
  std::uint64_t word_;  // of next_: multiplied out where it is used, it would be part of the time
};

class NearClerk {
 public:
  MARROW_HD explicit NearClerk(const TripJob& job) : job_(job) {}

  [[nodiscard]] MARROW_HD bool stopping(std::uint64_t i) const { return is_stopped(job_.stop, i); }
  MARROW_HD void write(std::uint64_t word) {
    *reinterpret_cast<std::uint64_t*>(job_.near.box.outgoing) = word;
    settle();
    start_ns_ = gda::lane_clock_ns();
  }
  [[nodiscard]] MARROW_HD std::uint64_t ticks() const { return gda::lane_ticks(); }
  [[nodiscard]] MARROW_HD bool await(std::uint64_t word) const {
    const auto* at = reinterpret_cast<const std::uint64_t*>(job_.near.box.incoming);
    gda::SpinLimit limit(job_.limit_ns);
    while (poll(at) != word) {
      if (limit.expired()) return false;
    }
    return true;
  }
  MARROW_HD bool accept(std::uint64_t i, bool done, bool replied, const TripStamps& stamps) {
    const auto end_ns = gda::lane_clock_ns();
    job_.reports[0].unanswered = !replied;
    if (!done || !replied) return false;
    if (i >= job_.warmup) job_.stamps[i - job_.warmup] = {stamps, start_ns_, end_ns};
    return true;
  }

 private:
  const TripJob& job_;
  std::uint64_t start_ns_ = 0;
};

class FarClerk {
 public:
  MARROW_HD explicit FarClerk(const TripJob& job) : job_(job) {}

  [[nodiscard]] MARROW_HD bool await(std::uint64_t word) const {
    const auto* at = reinterpret_cast<const std::uint64_t*>(job_.far.box.incoming);
    gda::SpinLimit limit(job_.limit_ns);
    for (std::uint32_t spin = 1; poll(at) != word; ++spin) {
      if (limit.expired() || (spin % 256 == 0 && poll(job_.near_ended) != 0)) return false;
    }
    return true;
  }
  MARROW_HD void delay(std::uint64_t i) const {
    if (job_.delay_ns == 0 || i % 2 == 0) return;
    const auto until = gda::lane_clock_ns() + job_.delay_ns;
    while (gda::lane_clock_ns() < until) {
    }
  }
  MARROW_HD void write(std::uint64_t word) const { *reinterpret_cast<std::uint64_t*>(job_.far.box.outgoing) = word; }
  /// Seldom: a look costs a load from L2 and a fence, and would be part of the round trip.
  [[nodiscard]] MARROW_HD static bool looks_at_completion(std::uint64_t i) { return i % 64 == 63; }

 private:
  const TripJob& job_;
};

}  // namespace marrow::experiments
