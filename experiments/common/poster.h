// SPDX-License-Identifier: Apache-2.0
// What the measuring loops want of a path: post one put, wait for it. mini-gda here, on host lanes and GPU lanes alike;
// libmlx5's ibv_post_send in verbs_poster.h. A poster is used by one lane.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

#include "marrow/gda/dump.h"
#include "marrow/gda/send_queue.h"
#include "util/error.h"

namespace marrow::experiments {

template <class P>
concept Poster = requires(P poster) {
  {poster.prepare(std::uint64_t{})};  // the next payload's first 8 bytes, before any clock is read
  { poster.post() }
  noexcept;  // builds, orders, rings; the timed part of "issue"
  { poster.wait() }
  noexcept->std::same_as<bool>;  // for what was posted last; false on an error or a time-out
  { poster.failure() } -> std::same_as<std::string>;
};

/// Where a put comes from and goes to.
struct Route {
  gda::Local from;
  gda::Remote to;
  std::uint32_t bytes = 8;
};

/// Where the puts of a DCI go, one after the other; the vectors as the lane sees them.
struct Aims {
  const wire::AddressVector* avs = nullptr;
  std::uint32_t mask = 0;  // how many there are less one: a power of two
  [[nodiscard]] MARROW_HD const wire::AddressVector& at(std::uint32_t put) const { return avs[put & mask]; }
};

/// WQEBBs of a put's WQE; a constant for the compiler where a policy's WQEs all fit one.
template <gda::PolicyType P>
[[nodiscard]] MARROW_HD constexpr std::uint32_t wqebbs_of_put(std::uint32_t bytes) {
  constexpr bool kLong = P::payload == gda::Payload::kInline && P::max_inline_bytes > wire::max_inline_write(1);
  return kLong ? gda::inline_write_wqebbs(bytes) : 1;
}

/// The value, worked out by now: a GPU's compiler would otherwise do it where the value is stored, inside the time.
[[nodiscard]] MARROW_HD inline std::uint64_t computed(std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+l"(value));
#endif
  return value;
}

/// Where an inline payload comes from.
enum class Source : std::uint8_t {
  kMemory,    // Route::from, loaded while the WQE is built
  kRegister,  // 8 bytes that the lane has just computed: no load, as in a lane that sends a flag or a counter
};

/// One put of mini-gda, posted as policy P says.
template <gda::PolicyType P, class Probe = gda::NoProbe, Source S = Source::kMemory>
class GdaPoster {
 public:
  using Policy = P;

  MARROW_HD GdaPoster(const gda::Qp& qp, const Route& route)
      : sq_(qp), put_{.to = route.to, .from = route.from, .bytes = route.bytes} {
    if constexpr (S == Source::kMemory) room_.wqebbs = wqebbs_of_put<P>(route.bytes);
  }

  MARROW_HD void prepare(std::uint64_t word) { word_ = computed(word); }

  MARROW_HD void post() noexcept {
    const gda::Solo team;
    const auto slots = sq_.reserve(team, room_);
    if (!slots.ok()) {  // asked once, so that the compiler need not ask again in each verb
      ticket_ = {.status = slots.status};
      return;
    }
    if constexpr (S == Source::kRegister) {
      sq_.write_value(slots[0], put_.to, word_);
    } else {
      sq_.write(slots[0], put_);
    }
    ticket_ = sq_.submit(team, slots);
  }

  [[nodiscard]] MARROW_HD bool wait() noexcept {
    const gda::Solo team;
    result_ = sq_.wait(team, ticket_);
    return result_.ok();
  }

  [[nodiscard]] MARROW_HD const gda::Result& result() const noexcept { return result_; }
  [[nodiscard]] std::string failure() const {
    return gda::format_result(result_) + "\n" + gda::format_dump(sq_.dump());
  }

  [[nodiscard]] MARROW_HD Probe& probe() noexcept { return sq_.probe(); }
  [[nodiscard]] MARROW_HD gda::SendQueue<P, Probe>& queue() noexcept { return sq_; }

 private:
  gda::SendQueue<P, Probe> sq_;
  gda::Put put_;
  std::uint64_t word_ = 0;
  gda::Room room_{};
  gda::Ticket ticket_{};
  gda::Result result_{};
};

/// `kPuts` puts of one payload at once, announced as the policy batches, until the last is complete: one sample of a
/// rate.
template <gda::PolicyType P, std::uint32_t kPuts>
class BurstPoster {
 public:
  using Policy = P;

  MARROW_HD BurstPoster(const gda::Qp& qp, const Route& route)
      : sq_(qp), put_{.to = route.to, .from = route.from, .bytes = route.bytes}, room_{.wqes = kPuts, .wqebbs = 1} {
    room_.wqebbs = wqebbs_of_put<P>(route.bytes);
  }

  MARROW_HD void prepare(std::uint64_t) {}

  MARROW_HD void post() noexcept {
    const gda::Solo team;
    const auto slots = sq_.reserve(team, room_);
    for (std::uint32_t i = 0; i < kPuts; ++i) sq_.write(slots[i], put_);
    ticket_ = sq_.submit(team, slots);
  }

  [[nodiscard]] MARROW_HD bool wait() noexcept {
    const gda::Solo team;
    result_ = sq_.wait(team, ticket_);
    return result_.ok();
  }

  [[nodiscard]] MARROW_HD const gda::Result& result() const noexcept { return result_; }
  [[nodiscard]] std::string failure() const {
    return gda::format_result(result_) + "\n" + gda::format_dump(sq_.dump());
  }

 private:
  gda::SendQueue<P> sq_;
  gda::Put put_;
  gda::Room room_;
  gda::Ticket ticket_{};
  gda::Result result_{};
};

/// \throws util::Error with the queue's dump when the last put failed.
template <Poster P>
void require_done(P& poster) {
  if (!poster.wait()) throw util::Error("a put did not complete: " + poster.failure());
}

}  // namespace marrow::experiments
