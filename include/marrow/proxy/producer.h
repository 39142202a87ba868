// SPDX-License-Identifier: Apache-2.0
// The lane's half of a proxy: put, put_signal and flush write one descriptor each, wait reads one word.
//
//   proxy::Producer<proxy::Tuned> out{ring};
//   const auto status = out.wait(out.put({.route = 3, .from = at, .to = at, .bytes = 4096}));
//
// A full ring holds its producers back: nothing is ever overwritten, left out or handed over twice. A failure stays in
// the ticket, so a lane need only look at the end.
#pragma once

#include <cstdint>
#include <type_traits>

#include "marrow/gda/team.h"
#include "marrow/proxy/memory.h"
#include "marrow/proxy/probe.h"

namespace marrow::proxy {

struct Put {
  std::uint32_t route = 0;
  std::uint64_t from = 0;  // offsets in the route's windows
  std::uint64_t to = 0;
  std::uint32_t bytes = 0;
};

/// What wait() waits for: that this many operations of the ring are complete.
struct [[nodiscard]] Ticket {
  std::uint64_t end = 0;
  gda::Status status = gda::Status::kOk;
};

/// One lane's way into a ring. With Reserve::kOwnRing it is the ring's only producer while it lives; otherwise each
/// lane that shares the ring has one.
template <HandOffType H, class Probe = NoProbe>
class Producer {
  static_assert(CheckHandOff<H>::ok);
  static constexpr bool kOwn = H::reserve == Reserve::kOwnRing;
  static constexpr bool kLean = H::residence == gda::Residence::kMemory;
  static constexpr bool kCached = H::credit == Credit::kCached;

 public:
  MARROW_HD explicit Producer(const Ring& ring) : ring_(ring), index_(kOwn ? ring.producers->head : 0) {
    if constexpr (kCached) freed_ = load_kept(&ring.producers->freed);
  }
  Producer(const Ring&& ring) requires(kLean) = delete;  // the ring must outlive the object
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;
  MARROW_HD ~Producer() {
    if constexpr (kOwn) ring_.producers->head = index_;
  }

  /// An RDMA write. Errors: kBadRequest (no descriptor can say it), kQueueFull (no slot within Ring::timeout_ns), or
  /// the failure that the worker has reported; nothing was handed over then. On a shared ring a producer that found no
  /// slot keeps its number for its next call: it must come back, for the slots behind it are of no use before.
  MARROW_HD Ticket put(const Put& p) { return hand_over({Op::kPut, p.route, 0, p.bytes, p.from, p.to}); }
  /// The same, and behind the payload the route's signal word `signal` is advanced by one.
  MARROW_HD Ticket put_signal(const Put& p, std::uint32_t signal) {
    return hand_over({Op::kPutSignal, p.route, signal, p.bytes, p.from, p.to});
  }
  /// Complete once everything that `scope` holds is. kRing needs no flush: wait() for the last ticket says as much.
  MARROW_HD Ticket flush(std::uint32_t route, FlushScope scope) {
    return hand_over({Op::kFlush, route, static_cast<std::uint32_t>(scope), 0, 0, 0});
  }

  /// Until the ring's first `end` operations are complete. kOk; the failure of one of them; or kTimeout.
  MARROW_HD gda::Status wait(const Ticket& ticket) {
    if (ticket.status != gda::Status::kOk) return ticket.status;
    gda::SpinLimit limit(ring_.timeout_ns);
    for (;;) {
      const auto progress = read_progress();
      if (progress.completed >= ticket.end) return gda::Status::kOk;
      if (progress.failure != gda::Status::kOk) return progress.failure;
      if (limit.expired()) return gda::Status::kTimeout;
    }
  }

  [[nodiscard]] MARROW_HD Probe& probe() { return probe_; }

 private:
  MARROW_HD Ticket hand_over(const Request& request) {
    if (!is_encodable(request)) return {0, gda::Status::kBadRequest};
    reserve();
    if (const auto status = await_slot(); status != gda::Status::kOk) return {0, status};
    if constexpr (H::pre_fence != PreFence::kNone) {
      order_payload<H::pre_fence>();
      probe_.on_fence(H::pre_fence);
    }
    store(request);
    if constexpr (kOwn) return {++index_, gda::Status::kOk};
    reserved_ = false;
    return {index_ + 1, gda::Status::kOk};
  }

  MARROW_HD void reserve() {
    if constexpr (!kOwn) {
      if (reserved_) return;
      index_ = fetch_next<H::reserve>(&ring_.producers->head);
      reserved_ = true;
      probe_.on_atomic();
    }
  }

  [[nodiscard]] MARROW_HD bool has_slot() const { return index_ - freed_ < ring_.depth; }
  MARROW_HD void read_credit() {
    freed_ = load_freed(ring_.freed);
    if constexpr (kCached) store_kept(&ring_.producers->freed, freed_);
    probe_.on_credit_read();
  }
  [[nodiscard]] MARROW_HD Progress read_progress() {
    probe_.on_done_read();
    return Progress::from_word(load_done(ring_.done));
  }

  [[nodiscard]] MARROW_HD gda::Status await_slot() {
    if (!kCached || !has_slot()) read_credit();
    if (has_slot()) return gda::Status::kOk;
    gda::SpinLimit limit(ring_.timeout_ns);
    do {
      if (limit.expired()) {
        const auto failure = read_progress().failure;
        return failure == gda::Status::kOk ? gda::Status::kQueueFull : failure;
      }
      read_credit();
    } while (!has_slot());
    return gda::Status::kOk;
  }

  MARROW_HD void store(const Request& request) {
    constexpr std::uint32_t kUnits = H::desc_bytes / sizeof(Descriptor);
    const auto slot = index_ & ring_.mask();
    auto* at = ring_.slots + slot * H::desc_bytes;
    std::uint64_t mark = 0;
    if constexpr (H::mark == Mark::kPhase) mark = phase_of(index_, ring_.depth);
    if constexpr (H::mark == Mark::kFlag || H::mark == Mark::kNonZeroWord) mark = 1;
    const auto d = encode(request, mark);
    store_words<H, kUnits == 1>(at, d.words[0], d.words[1]);
    if constexpr (kUnits > 1) {
      for (std::uint32_t i = 1; i + 1 < kUnits; ++i) store_words<H, false>(at + i * sizeof(Descriptor), mark, mark);
      store_words<H, true>(at + (kUnits - 1) * sizeof(Descriptor), mark, mark);
    }
    constexpr bool kReady = H::mark == Mark::kReadyWord;
    if constexpr (kReady) store_ready(ring_.ready + slot, ready_of(index_));
    constexpr std::uint32_t kStores = kUnits * (H::publish == Publish::kVolatile8 ? 2 : 1);
    probe_.on_stores(kStores + kReady, H::publish == Publish::kRelease);
  }

  std::conditional_t<kLean, const Ring&, Ring> ring_;
  std::uint64_t index_;      // own ring: the next one; shared: the one reserved last
  std::uint64_t freed_ = 0;  // what the worker's index was when it was read last
  bool reserved_ = false;    // shared ring: index_ has not been handed over yet
  [[no_unique_address]] Probe probe_;
};

}  // namespace marrow::proxy
