// SPDX-License-Identifier: Apache-2.0
// What the measuring loops want of a path: post one put, wait for it. mini-gda's host lane here; libmlx5's
// ibv_post_send in verbs_poster.h. A poster is used by one thread.
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

/// One put of mini-gda by a host lane, posted as policy P says.
template <gda::PolicyType P, class Probe = gda::NoProbe>
class GdaPoster {
 public:
  GdaPoster(const gda::Qp& qp, const Route& route)
      : sq_(qp), put_{.to = route.to, .from = route.from, .bytes = route.bytes} {
    if constexpr (P::payload == gda::Payload::kInline) room_.wqebbs = gda::inline_write_wqebbs(route.bytes);
  }

  void post() noexcept {
    const auto slots = sq_.reserve(kTeam, room_);
    sq_.write(slots[0], put_);
    ticket_ = sq_.submit(kTeam, slots);
  }

  [[nodiscard]] bool wait() noexcept {
    result_ = sq_.wait(kTeam, ticket_);
    return result_.ok();
  }

  [[nodiscard]] std::string failure() const {
    return gda::format_result(result_) + "\n" + gda::format_dump(sq_.dump());
  }

  [[nodiscard]] Probe& probe() noexcept { return sq_.probe(); }
  [[nodiscard]] gda::SendQueue<P, Probe>& queue() noexcept { return sq_; }

 private:
  static constexpr gda::Solo kTeam{};
  gda::SendQueue<P, Probe> sq_;
  gda::Put put_;
  gda::Room room_{};
  gda::Ticket ticket_{};
  gda::Result result_{};
};

/// \throws util::Error with the queue's dump when the last put failed.
template <Poster P>
void require_done(P& poster) {
  if (!poster.wait()) throw util::Error("a put did not complete: " + poster.failure());
}

}  // namespace marrow::experiments
