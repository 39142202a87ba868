// SPDX-License-Identifier: Apache-2.0
// Posters of a DCI: each put goes to the next destination of a list, which may have only one.
#pragma once

#include "experiments/common/poster.h"

namespace marrow::experiments {

/// One put at a time.
template <gda::PolicyType P, class Probe = gda::NoProbe, Source S = Source::kMemory>
class DcPoster {
 public:
  using Policy = P;

  MARROW_HD DcPoster(const gda::Qp& qp, const Route& route, const Aims& aims)
      : sq_(qp), put_{.to = route.to, .from = route.from, .bytes = route.bytes}, aims_(aims) {
    room_.wqebbs = wire::wqebbs_of(2 + gda::kAvDs<P> + wire::inline_ds(route.bytes));
  }

  MARROW_HD void prepare(std::uint64_t word) { word_ = computed(word); }

  MARROW_HD void post() noexcept {
    const gda::Solo team;
    const auto slots = sq_.reserve(team, room_);
    if (!slots.ok()) {
      ticket_ = {.status = slots.status};
      return;
    }
    sq_.aim(aims_.at(next_++));
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

 private:
  gda::SendQueue<P, Probe> sq_;
  gda::Put put_;
  Aims aims_;
  std::uint32_t next_ = 0;
  std::uint64_t word_ = 0;
  gda::Room room_{};
  gda::Ticket ticket_{};
  gda::Result result_{};
};

/// `kPuts` puts of one payload at once, until the last is complete.
template <gda::PolicyType P, std::uint32_t kPuts>
class DcBurstPoster {
 public:
  using Policy = P;

  MARROW_HD DcBurstPoster(const gda::Qp& qp, const Route& route, const Aims& aims)
      : sq_(qp), put_{.to = route.to, .from = route.from, .bytes = route.bytes}, aims_(aims), room_{.wqes = kPuts} {
    room_.wqebbs = wire::wqebbs_of(2 + gda::kAvDs<P> + wire::inline_ds(route.bytes));
  }

  MARROW_HD void prepare(std::uint64_t) {}

  MARROW_HD void post() noexcept {
    const gda::Solo team;
    const auto slots = sq_.reserve(team, room_);
    for (std::uint32_t i = 0; i < kPuts; ++i) {
      sq_.aim(aims_.at(i));
      sq_.write(slots[i], put_);
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

 private:
  gda::SendQueue<P> sq_;
  gda::Put put_;
  Aims aims_;
  gda::Room room_{};
  gda::Ticket ticket_{};
  gda::Result result_{};
};

}  // namespace marrow::experiments
