// SPDX-License-Identifier: Apache-2.0
// Round trips between two lanes: the submitter puts a word into the far side's memory, a lane there polls for it and
// puts it back, the submitter polls for the reply. The notification is the data word itself, as in the paper.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>

#include "experiments/common/poster.h"
#include "experiments/common/stamped_payload.h"
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

/// One lane's memory in a round trip: 8-byte words in registered memory.
struct Mailbox {
  std::byte* outgoing = nullptr;  // source of this lane's puts
  std::byte* incoming = nullptr;  // where the other lane's puts arrive
};

/// The far lane: replies to stamp_word(0), (1), ... in order, each after `delay_of(i)` nanoseconds of busy waiting. A
/// reply's completion is looked at before the next reply, when it has long been there.
///
/// Runs on a thread of its own from construction until finish() or destruction. Its error, if any, is thrown by
/// finish().
template <Poster P>
class Replier {
 public:
  using DelayOf = std::uint64_t (*)(std::uint64_t i, std::uint64_t parameter);

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

 private:
  void run() noexcept {
    try {
      std::uint64_t i = 0;
      for (; i < settings_.operations && await_request(i); ++i) reply(i);
      if (i > 0) require_done(poster_);
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  bool await_request(std::uint64_t i) const noexcept {
    constexpr std::uint64_t kLookUpNs = 20'000'000;
    const auto await = settings_.crowded ? await_word_politely : await_word;
    while (!await(settings_.box.incoming, stamp_word(i), kLookUpNs)) {
      if (stop_) return false;
    }
    return true;
  }

  void reply(std::uint64_t i) {
    if (settings_.delay_of != nullptr) busy_wait(settings_.delay_of(i, settings_.parameter));
    store_word(settings_.box.outgoing, stamp_word(i));
    if (i > 0) require_done(poster_);
    poster_.post();
  }

  static void busy_wait(std::uint64_t ns) noexcept {
    const auto until = util::now() + std::chrono::nanoseconds(ns);
    while (ns != 0 && util::now() < until) {
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

/// The near lane: `warmup` untimed round trips, then timed ones until `operations` in all are done.
/// `keep(i, ns)` receives each timed one.
template <Poster P, class Keep>
void round_trips(const Context& context, P& poster, const Mailbox& box, Keep&& keep) {
  const auto& clock = *context.clock;
  const auto await = is_crowded(context, kRoundTripLanes) ? await_word_politely : await_word;
  const std::uint64_t operations = std::uint64_t{context.warmup} + context.iterations;
  for (std::uint64_t i = 0; i < operations && !context.stopping(); ++i) {
    store_word(box.outgoing, stamp_word(i));
    const auto start = clock.ticks();
    poster.post();
    const bool replied = await(box.incoming, stamp_word(i), kReplyLimitNs);
    const auto end = clock.ticks();
    require_done(poster);
    if (!replied) throw util::Error("round trip " + std::to_string(i) + ": no reply within 2 s");
    if (i >= context.warmup) keep(i, clock.ns(end - start));
  }
}

}  // namespace marrow::experiments
