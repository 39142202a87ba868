// SPDX-License-Identifier: Apache-2.0
// Round trips between two host lanes: the clerks of trip_loop.h for CPU threads, and the thread of the far one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>
#include <type_traits>

#include "experiments/common/poster.h"
#include "experiments/common/trip_loop.h"
#include "experiments/experiment.h"
#include "marrow/gda/team.h"
#include "measure/samples.h"
#include "util/clock.h"
#include "util/error.h"

namespace marrow::experiments {

/// A word that the NIC writes and a lane polls.
inline std::uint64_t poll_word(const std::byte* at) noexcept {
  auto* word = reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(at));
  return std::atomic_ref(*word).load(std::memory_order_acquire);
}

inline void store_word(std::byte* at, std::uint64_t value) noexcept {
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at)).store(value, std::memory_order_release);
}

/// Polls until the word is `value`. \returns false after `limit_ns`.
inline bool await_word(const std::byte* at, std::uint64_t value, std::uint64_t limit_ns) noexcept {
  gda::SpinLimit limit(limit_ns);
  while (poll_word(at) != value) {
    if (limit.expired()) return false;
  }
  return true;
}

/// The same for lanes that share their core with what they wait for: the core is given away between two looks.
inline bool await_word_politely(const std::byte* at, std::uint64_t value, std::uint64_t limit_ns) noexcept {
  const auto until = util::now() + std::chrono::nanoseconds(limit_ns);
  while (poll_word(at) != value) {
    std::this_thread::sleep_for(std::chrono::microseconds(20));  // not a yield: see gda::SpinLimit
    if (util::now() >= until) return false;
  }
  return true;
}

/// How long the answering lane waits before answer `i`; `parameter` is its caller's.
using DelayOf = std::uint64_t (*)(std::uint64_t i, std::uint64_t parameter);

/// The far lane, each answer after `delay_of(i)` nanoseconds of busy waiting.
///
/// Runs on a thread of its own from construction until finish() or destruction. Its error, if any, is thrown by
/// finish().
template <Poster P>
class Replier {
 public:
  struct Settings {
    Mailbox box;
    std::uint64_t operations = 0;
    DelayOf delay_of = nullptr;   // none: reply at once
    std::uint64_t parameter = 0;  // second argument of delay_of
    bool crowded = false;         // more threads than cores
  };

  Replier(P& poster, const Settings& settings) : poster_(poster), settings_(settings), thread_([this] { run(); }) {}
  ~Replier() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Replier(const Replier&) = delete;
  Replier& operator=(const Replier&) = delete;

  void finish() {
    stop_ = true;
    thread_.join();
    if (error_) std::rethrow_exception(error_);
  }

  // As the clerk of answers():
  [[nodiscard]] bool await(std::uint64_t word) const noexcept {
    constexpr std::uint64_t kLookUpNs = 20'000'000;
    const auto await = settings_.crowded ? await_word_politely : await_word;
    while (!await(settings_.box.incoming, word, kLookUpNs)) {
      if (stop_) return false;
    }
    return true;
  }
  void delay(std::uint64_t i) const noexcept {
    const std::uint64_t ns = settings_.delay_of != nullptr ? settings_.delay_of(i, settings_.parameter) : 0;
    const auto until = util::now() + std::chrono::nanoseconds(ns);
    while (ns != 0 && util::now() < until) {
    }
  }
  void write(std::uint64_t word) const noexcept { store_word(settings_.box.outgoing, word); }
  [[nodiscard]] static bool looks_at_completion(std::uint64_t i) noexcept { return i > 0; }

 private:
  void run() noexcept {
    try {
      if (answers(*this, poster_, settings_.operations) > 0) require_done(poster_);
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  P& poster_;
  Settings settings_;
  std::atomic<bool> stop_{false};
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses everything above
};

inline constexpr unsigned kRoundTripLanes = 2;
inline constexpr std::uint64_t kReplyLimitNs = 2'000'000'000;

/// The clerk of the near lane. `keep(i, ns)` receives each trip behind the warm-up.
template <Poster P, class Keep>
class HostTripClerk {
 public:
  HostTripClerk(const Context& context, P& poster, const Mailbox& box, Keep& keep)
      : context_(context),
        poster_(poster),
        box_(box),
        keep_(keep),
        await_(is_crowded(context, kRoundTripLanes) ? await_word_politely : await_word) {}

  [[nodiscard]] bool stopping(std::uint64_t) const { return context_.stopping(); }
  void write(std::uint64_t word) const { store_word(box_.outgoing, word); }
  [[nodiscard]] std::uint64_t ticks() const { return context_.clock->ticks(); }
  [[nodiscard]] bool await(std::uint64_t word) const { return await_(box_.incoming, word, kReplyLimitNs); }
  bool accept(std::uint64_t i, bool done, bool replied, const TripStamps& stamps) {
    if (!done) throw util::Error("a put did not complete: " + poster_.failure());
    if (!replied) throw util::Error("round trip " + std::to_string(i) + ": no reply within 2 s");
    if (i >= context_.warmup) keep_(i, context_.clock->ns(stamps.end - stamps.start));
    return true;
  }

 private:
  const Context& context_;
  P& poster_;
  Mailbox box_;
  Keep& keep_;
  bool (*await_)(const std::byte*, std::uint64_t, std::uint64_t);
};

/// `warmup` untimed round trips, then timed ones until `operations` in all are done.
template <Poster P, class Keep>
void round_trips(const Context& context, P& poster, const Mailbox& box, Keep&& keep) {
  HostTripClerk<P, std::remove_reference_t<Keep>> clerk(context, poster, box, keep);
  (void)round_trips(clerk, poster, std::uint64_t{context.warmup} + context.iterations);
}

}  // namespace marrow::experiments
