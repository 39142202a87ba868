// SPDX-License-Identifier: Apache-2.0
// Beside stops 2 and 9 of 9: where an exclusive queue's handle and indices rest between two uses (Residence), so that
// the verbs are one text for both. In memory nothing outlives the store or load that asks for it: indices are looked up
// each time, sums are made in place, and what must be compared meanwhile has 32 bits.
#pragma once

#include <cstdint>
#include <type_traits>

#include "marrow/gda/handles.h"
#include "marrow/gda/policy.h"

namespace marrow::gda {

/// True where nothing of the queue stays in registers.
template <PolicyType P>
inline constexpr bool kLean = P::residence == Residence::kMemory;

/// A copy in registers, or the caller's own.
template <PolicyType P>
using HandleOf = std::conditional_t<kLean<P>, const Qp&, Qp>;

/// An index, or the lower half that tells it from all others around the ring.
template <PolicyType P>
using IndexOf = std::conditional_t<kLean<P>, std::uint32_t, std::uint64_t>;

/// True if a > b, of which neither is an old ticket's: then both are a few rings apart at most, and 32 bits tell.
template <PolicyType P>
[[nodiscard]] MARROW_HD bool is_past(std::uint64_t a, std::uint64_t b) {
  if constexpr (kLean<P>)
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b)) > 0;
  else
    return a > b;
}

/// WQEBBs rung, where a submit may put that off; else what is submitted is rung.
template <bool Defers>
struct RungIndex {
  MARROW_HD explicit RungIndex(const Qp&) {}
};
template <>
struct RungIndex<true> {
  MARROW_HD explicit RungIndex(const Qp& qp) : value(qp.counters->shared.rung) {}
  std::uint64_t value;
};

/// The poster's indices: a copy in each lane of the team, until they go back to the counters.
template <bool Lean, bool Defers>
class Posted : RungIndex<Defers> {
 public:
  MARROW_HD explicit Posted(const Qp& qp) : RungIndex<Defers>(qp), pi_(qp.counters->pi) {}

  /// WQEBBs submitted.
  [[nodiscard]] MARROW_HD std::uint64_t pi() const { return pi_; }
  [[nodiscard]] MARROW_HD std::uint64_t rung() const { return this->value; }
  /// WQEBBs to reserve without a look at ci or an error; what is free may be more.
  [[nodiscard]] MARROW_HD std::uint32_t room() const { return room_; }

  template <class Team>
  MARROW_HD void set_pi(const Team&, std::uint64_t pi) {
    pi_ = pi;
  }
  template <class Team>
  MARROW_HD void set_rung(const Team&, std::uint64_t rung) {
    this->value = rung;
  }
  MARROW_HD void set_room(std::uint32_t wqebbs) { room_ = wqebbs; }
  /// Where lanes share the indices: all have looked and the leader may store, or it has stored and all may look.
  template <class Team>
  MARROW_HD static void meet(const Team&) {}
  MARROW_HD void give_back(QpCounters& c) const {
    c.pi = pi_;
    if constexpr (Defers) c.shared.rung = rung();
  }

 private:
  std::uint64_t pi_;
  std::uint32_t room_ = 0;
};

/// The counters themselves.
template <bool Defers>
class Posted<true, Defers> {
 public:
  MARROW_HD explicit Posted(const Qp& qp) : qp_(qp) {}

  [[nodiscard]] MARROW_HD std::uint64_t pi() const { return qp_.counters->pi; }
  [[nodiscard]] MARROW_HD std::uint64_t rung() const { return qp_.counters->shared.rung; }
  [[nodiscard]] MARROW_HD std::uint32_t room() const { return 0; }

  template <class Team>
  MARROW_HD void set_pi(const Team& team, std::uint64_t pi) {
    if (team.rank() == 0) qp_.counters->pi = pi;
  }
  template <class Team>
  MARROW_HD void set_rung(const Team& team, std::uint64_t rung) {
    if (team.rank() == 0) qp_.counters->shared.rung = rung;
  }
  MARROW_HD static void set_room(std::uint32_t) {}
  template <class Team>
  MARROW_HD static void meet(const Team& team) {
    team.sync();
  }

 private:
  const Qp& qp_;
};

/// The consumer's indices: the leader's copy, which the other lanes get by share().
template <bool Lean>
class Progress {
  struct Indices {
    std::uint64_t ci;
    std::uint64_t cqes;
    Result error;
  };

 public:
  MARROW_HD explicit Progress(const QpIndices& c) : at_{c.ci, c.cqes, c.error} {}
  MARROW_HD explicit Progress(const Qp& qp) : Progress(static_cast<const QpIndices&>(*qp.counters)) {}

  [[nodiscard]] MARROW_HD Indices& at() { return at_; }
  [[nodiscard]] MARROW_HD const Indices& at() const { return at_; }
  template <class Team>
  MARROW_HD void share(const Team& team) {
    at_ = team.broadcast(at_);
  }

 private:
  Indices at_;
};

/// The counters themselves.
template <>
class Progress<true> {
 public:
  MARROW_HD explicit Progress(const Qp& qp) : qp_(qp) {}

  [[nodiscard]] MARROW_HD QpIndices& at() const { return *qp_.counters; }
  template <class Team>
  MARROW_HD static void share(const Team& team) {
    team.sync();
  }

 private:
  const Qp& qp_;
};

}  // namespace marrow::gda
