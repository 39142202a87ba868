// SPDX-License-Identifier: Apache-2.0
// One worker: its rings in turn, its queue pairs, its numbers. Only what touches a ring depends on the hand-off.
//
// A round: CQEs are polled; then for each ring what is complete is told to its lanes, and what has arrived is taken and
// placed; then what is left in the chains is posted. A ring that comes first is looked at between any two others. Over
// 300 lines: all of it is a template of the hand-off, and stands in the order of a round.
#pragma once

#include <sched.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "marrow/proxy/consumer.h"
#include "proxy/in_flight.h"
#include "proxy/poster.h"
#include "proxy/report.h"
#include "proxy/routes.h"
#include "proxy/ticks.h"
#include "util/clock.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace marrow::proxy {

/// Stores to write-combining memory leave the core now.
inline void flush_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// A worker's share of the whole.
struct WorkerTask {
  const WorkersOptions& options;
  const RouteTable& routes;
  std::uint32_t number = 0;
  std::vector<WorkerRing> rings;
};

template <HandOffType H>
class alignas(64) Worker {
 public:
  explicit Worker(const WorkerTask& task);

  /// Until `stop`, and then until nothing is in flight or it takes too long.
  void run(const std::atomic<bool>& stop);
  /// One look at everything, which is what run() does over and over. Whether anything was found.
  bool round();
  /// What run() ends with: waits for what is in flight, and closes the rings.
  void drain();

  [[nodiscard]] WorkerCounters counters() const;
  /// Not while it runs.
  [[nodiscard]] std::uint64_t taken(std::size_t ring) const { return sides_.at(ring).consumer.taken(); }

 private:
  struct Side {
    Consumer<H> consumer;
    InFlight in_flight;
    std::optional<Request> held;  // taken, and there was no room for it
    bool starved = false;         // and none for anything else at its last visit
    std::uint64_t freed = 0;
    bool first = false;
    bool gpu_counter = false;
  };

  bool visit(Side& side);
  bool take_from(Side& side);
  void hold(Side& side, const Request& request);
  bool place_held(Side& side);
  bool discard(Side& side, std::uint64_t most);
  bool advance(Side& side);
  void tell(Side& side);
  void free_handled(Side& side);
  void free_up_to(Side& side, std::uint64_t index);
  void rest(std::uint32_t empty_rounds);
  void close(Side& side);

  WorkersOptions options_;
  WorkerCounters counters_;
  Poster poster_;
  std::vector<Side> sides_;
  std::vector<std::uint32_t> order_;  // of the visits of a round
  std::size_t turn_ = 0;              // where a round begins: at the first ring that got no room in the last one
};

template <HandOffType H>
Worker<H>::Worker(const WorkerTask& task)
    : options_(task.options), poster_(task.routes, task.number, task.options, counters_) {
  const auto connections = task.routes.workers.at(task.number).qps.size();
  const auto capacity = static_cast<std::uint32_t>(std::bit_ceil(options_.in_flight + connections + 1));
  std::vector<std::uint32_t> firsts, others;
  for (const auto& r : task.rings) {
    (r.reserved == Reserved::kFirst ? firsts : others).push_back(static_cast<std::uint32_t>(sides_.size()));
    sides_.push_back({.consumer = Consumer<H>(r.ring, r.first),
                      .in_flight = InFlight(r.first, capacity),
                      .freed = r.first,
                      .first = r.reserved == Reserved::kFirst,
                      .gpu_counter = r.counter == CounterPlace::kGpu});
    sides_.back().consumer.free_up_to(r.first);
    tell(sides_.back());
  }
  if (others.empty()) order_ = firsts;
  for (const auto other : others) {
    order_.insert(order_.end(), firsts.begin(), firsts.end());
    order_.push_back(other);
  }
}

template <HandOffType H>
void Worker<H>::run(const std::atomic<bool>& stop) {
  auto mark = ticks();
  bool busy = false;
  const auto settle = [&] {
    const auto now = ticks();
    bump(counters_.ticks, now - mark);
    if (busy) bump(counters_.busy_ticks, now - mark);
    mark = now;
  };
  std::uint32_t empty_rounds = 0;
  for (std::uint32_t rounds = 1;; ++rounds) {
    if (rounds >= options_.stop_check_every) {
      rounds = 0;
      if (stop.load(std::memory_order_relaxed)) break;
    }
    const bool did = round();
    if (!busy || !did || rounds == 0) {
      busy = busy || did;
      settle();
    }
    busy = did;
    empty_rounds = did ? 0 : empty_rounds + 1;
    if (!did) rest(empty_rounds);
  }
  settle();
  drain();
}

template <HandOffType H>
bool Worker<H>::round() {
  bool did = poster_.is_waiting() && poster_.poll() != 0;
  const auto begin = turn_;
  bool scarce = false;
  for (std::size_t n = 0; n < order_.size(); ++n) {
    const auto at = begin + n < order_.size() ? begin + n : begin + n - order_.size();
    auto& side = sides_[order_[at]];
    did |= visit(side);
    if (scarce || !side.starved || side.first) continue;
    scarce = true;
    turn_ = at;
  }
  poster_.post_open();
  if (did && options_.slot_free_when == SlotFree::kHandled) {
    for (auto& side : sides_) free_handled(side);
  }
  bump(counters_.rounds);
  return did;
}

template <HandOffType H>
bool Worker<H>::visit(Side& side) {
  if (side.first && !side.in_flight.empty()) poster_.poll();
  const bool advanced = advance(side);
  const bool took = take_from(side);
  if (took && side.first) poster_.post_open();
  if (took && options_.slot_free_when == SlotFree::kRead) free_up_to(side, side.consumer.taken());
  if (took && options_.slot_free_when == SlotFree::kHandled && !poster_.has_open()) free_handled(side);
  return advanced || took;
}

/// Whether anything was taken, or placed that had been held.
template <HandOffType H>
bool Worker<H>::take_from(Side& side) {
  bump(counters_.visits);
  if (side.in_flight.is_closed()) return discard(side, options_.take_per_visit);
  const bool was_held = side.held.has_value();
  side.starved = was_held && !place_held(side);
  if (side.starved) return false;
  if (side.in_flight.is_closed()) return true;
  const auto room = options_.in_flight - (side.consumer.taken() - side.in_flight.completed());
  const auto most = room < options_.take_per_visit ? room : options_.take_per_visit;
  if (most == 0) bump(counters_.credit_stalls);
  const auto before = side.consumer.taken();
  for (std::uint64_t i = 0; i < most; ++i) {
    const auto request = side.consumer.take();
    if (!request) break;
    const auto placed = poster_.place(*request, side.in_flight);
    if (placed == Placed::kYes) continue;
    if (placed == Placed::kNoRoom) hold(side, *request);
    if (placed == Placed::kRefused) bump(counters_.failed);
    break;
  }
  const auto taken = side.consumer.taken() - before;
  side.starved = side.held && !was_held && taken == 1;
  if (taken != 0) bump(counters_.requests, taken);
  if (taken == 0 && most != 0) bump(counters_.empty_visits);
  return taken != 0 || was_held;
}

template <HandOffType H>
void Worker<H>::hold(Side& side, const Request& request) {
  side.held = request;
  bump(counters_.credit_stalls);
}

/// False: it still has no room.
template <HandOffType H>
bool Worker<H>::place_held(Side& side) {
  const auto placed = poster_.place(*side.held, side.in_flight);
  if (placed == Placed::kNoRoom) {
    bump(counters_.credit_stalls);
    return false;
  }
  if (placed == Placed::kRefused) bump(counters_.failed);
  side.held.reset();
  return true;
}

/// Of a ring that has failed: its producers go on, and are told.
template <HandOffType H>
bool Worker<H>::discard(Side& side, std::uint64_t most) {
  if (side.held) bump(counters_.failed);
  side.held.reset();
  side.starved = false;
  std::uint64_t taken = 0;
  while (taken < most && side.consumer.take()) ++taken;
  bump(counters_.requests, taken);
  bump(counters_.failed, taken);
  if (taken == 0) bump(counters_.empty_visits);
  free_up_to(side, side.consumer.taken());
  return taken != 0;
}

template <HandOffType H>
bool Worker<H>::advance(Side& side) {
  if (side.in_flight.empty() || !poster_.advance(side.in_flight)) return false;
  tell(side);
  if (options_.slot_free_when == SlotFree::kCompleted) free_up_to(side, side.in_flight.completed());
  return true;
}

template <HandOffType H>
void Worker<H>::tell(Side& side) {
  const auto failure = side.in_flight.failure();
  if (failure == gda::Status::kOk) {
    side.consumer.complete_up_to(side.in_flight.completed());
  } else {
    side.consumer.fail_behind(side.in_flight.completed(), failure);
  }
  if (side.gpu_counter) flush_stores();
}

/// When nothing waits in a chain.
template <HandOffType H>
void Worker<H>::free_handled(Side& side) {
  free_up_to(side, side.consumer.taken() - (side.held ? 1 : 0));
}

template <HandOffType H>
void Worker<H>::free_up_to(Side& side, std::uint64_t index) {
  if (index <= side.freed) return;
  side.consumer.free_up_to(index);
  side.freed = index;
}

template <HandOffType H>
void Worker<H>::rest(std::uint32_t empty_rounds) {
  if (options_.idle == Idle::kYield) ::sched_yield();
  if (options_.idle == Idle::kNap && empty_rounds >= options_.spins_before_nap) {
    std::this_thread::sleep_for(options_.nap);
  }
}

template <HandOffType H>
void Worker<H>::drain() {
  const auto end = util::now() + options_.stop_timeout;
  for (bool waiting = true; waiting && util::now() < end;) {
    if (poster_.poll() == 0) ::sched_yield();
    waiting = false;
    for (auto& side : sides_) {
      advance(side);
      waiting = waiting || !side.in_flight.empty();
    }
  }
  for (auto& side : sides_) close(side);
}

template <HandOffType H>
void Worker<H>::close(Side& side) {
  if (side.in_flight.failure() == gda::Status::kOk) {
    side.in_flight.fail(side.in_flight.empty() ? gda::Status::kFlushed : gda::Status::kTimeout);
    tell(side);
  }
  discard(side, 2 * std::uint64_t{kMaxRingDepth});
}

template <HandOffType H>
WorkerCounters Worker<H>::counters() const {
  return snapshot(counters_);
}

}  // namespace marrow::proxy
