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
  return gda::kShortWqes<P> ? 1 : gda::write_wqebbs<P>(bytes);
}

/// Where an inline payload comes from.
enum class Source : std::uint8_t {
  kMemory,    // Route::from, loaded while the WQE is built
  kRegister,  // 8 bytes that the lane has just computed: no load, as in a lane that sends a flag or a counter
};

/// What posters of one queue share: the queue, what is put, and the last ticket.
template <gda::PolicyType P, class Probe = gda::NoProbe>
class QueuePoster {
 public:
  using Policy = P;

  [[nodiscard]] MARROW_HD bool wait() noexcept {
    result_ = sq_.wait(gda::Solo{}, ticket_);
    return result_.ok();
  }

  [[nodiscard]] MARROW_HD const gda::Result& result() const noexcept { return result_; }
  [[nodiscard]] std::string failure() const {
    return gda::format_result(result_) + "\n" + gda::format_dump(sq_.dump());
  }
  [[nodiscard]] MARROW_HD Probe& probe() noexcept { return sq_.probe(); }

 protected:
  MARROW_HD QueuePoster(const gda::Qp& qp, const Route& route, const Aims& aims)
      : sq_(qp), put_{.to = route.to, .from = route.from, .bytes = route.bytes}, aims_(aims) {}

  /// A DCI's next put goes where the aims say.
  MARROW_HD void aim([[maybe_unused]] std::uint32_t put) {
    if constexpr (gda::kAvDs<P> != 0) sq_.aim(aims_.at(put));
  }

  gda::SendQueue<P, Probe> sq_;
  gda::Put put_;
  Aims aims_;
  gda::Ticket ticket_{};
  gda::Result result_{};
};

/// One put of mini-gda, posted as policy P says.
template <gda::PolicyType P, class Probe = gda::NoProbe, Source S = Source::kMemory>
class GdaPoster : public QueuePoster<P, Probe> {
 public:
  /// \param aims  of a DCI: where each put goes.
  MARROW_HD GdaPoster(const gda::Qp& qp, const Route& route, const Aims& aims = {})
      : QueuePoster<P, Probe>(qp, route, aims) {
    if constexpr (S == Source::kMemory) room_.wqebbs = wqebbs_of_put<P>(route.bytes);
  }

  MARROW_HD void prepare(std::uint64_t word) { word_ = word; }

  MARROW_HD void post() noexcept {
    auto& sq = this->sq_;
    this->ticket_ = sq.post(gda::Solo{}, room_, [&](const gda::Slots& slots) {
      this->aim(next_++);
      if constexpr (S == Source::kRegister) {
        sq.write_value(slots[0], this->put_.to, word_);
      } else {
        sq.write(slots[0], this->put_);
      }
    });
  }

 private:
  gda::Room room_{1, wqebbs_of_put<P>(8)};
  std::uint64_t word_ = 0;
  std::uint32_t next_ = 0;
};

/// `kPuts` puts of one payload at once, announced as the policy batches, until the last is complete: one sample of a
/// rate.
template <gda::PolicyType P, std::uint32_t kPuts>
class BurstPoster : public QueuePoster<P> {
 public:
  MARROW_HD BurstPoster(const gda::Qp& qp, const Route& route, const Aims& aims = {})
      : QueuePoster<P>(qp, route, aims), room_{kPuts, wqebbs_of_put<P>(route.bytes)} {}

  MARROW_HD void prepare(std::uint64_t) {}

  MARROW_HD void post() noexcept {
    auto& sq = this->sq_;
    this->ticket_ = sq.post(gda::Solo{}, room_, [&](const gda::Slots& slots) {
      for (std::uint32_t i = 0; i < kPuts; ++i) {
        this->aim(i);
        sq.write(slots[i], this->put_);
      }
    });
  }

 private:
  gda::Room room_;
};

/// \throws util::Error with the queue's dump when the last put failed.
template <Poster P>
void require_done(P& poster) {
  if (!poster.wait()) throw util::Error("a put did not complete: " + poster.failure());
}

}  // namespace marrow::experiments
