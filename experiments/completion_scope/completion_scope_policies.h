// SPDX-License-Identifier: Apache-2.0
// The ways of waiting that completion-scope compares, for both lanes. All post the same put to the first queue.
#pragma once

#include "experiments/common/poster.h"
#include "marrow/gda/queue_set.h"

namespace marrow::experiments {

inline constexpr std::uint32_t kScopeBytes = 8;

/// The lane's own queue, and a queue of slots that many could share, as libraries have it.
using ScopeOwn = gda::GpuFence;
using ScopeShared = gda::Shared<gda::GpuFence>;

/// Posts to the first queue of a set, and waits by quiet(), as the policy's scope says: for that queue, or for all.
template <gda::PolicyType P>
class QuietPoster {
 public:
  using Policy = P;

  MARROW_HD QuietPoster(const gda::QueueSet& set, const Route& route) : set_(set), to_(route.to) {}

  MARROW_HD void prepare(std::uint64_t word) { word_ = word; }

  MARROW_HD void post() noexcept {
    const gda::Solo team;
    gda::SendQueue<P> sq(set_.qps[0]);
    const auto slots = sq.reserve(team, 1);
    sq.write_value(slots[0], to_, word_);
    ticket_ = sq.submit(team, slots);
  }

  [[nodiscard]] MARROW_HD bool wait() noexcept {
    result_ = {ticket_.status};
    if (result_.ok()) result_ = gda::quiet<P>(gda::Solo{}, set_, /*used=*/0);
    return result_.ok();
  }

  [[nodiscard]] MARROW_HD const gda::Result& result() const noexcept { return result_; }
  [[nodiscard]] std::string failure() const {
    const gda::SendQueue<P> sq(set_.qps[0]);
    return gda::format_result(result_) + "\nof the first queue: " + gda::format_dump(sq.dump());
  }

 private:
  gda::QueueSet set_;
  gda::Remote to_;
  std::uint64_t word_ = 0;
  gda::Ticket ticket_{};
  gda::Result result_{};
};

/// Waits for the put's own ticket.
template <gda::PolicyType P>
using TicketPoster = GdaPoster<P, gda::NoProbe, Source::kRegister>;

}  // namespace marrow::experiments
