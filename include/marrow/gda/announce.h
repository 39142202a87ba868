// SPDX-License-Identifier: Apache-2.0
// Stop 2 of 9, its end: what is posted becomes known to the NIC, in the sequence that the policy names; and when a
// submit does so at all. Facts: record, doorbell [dv: qp.c]; the other sequences [obs: NCCL's GDAKI].
#pragma once

#include <cstdint>

#include "marrow/gda/order.h"
#include "marrow/gda/probe.h"
#include "marrow/gda/requests.h"

namespace marrow::gda {

template <PolicyType P, class Probe>
MARROW_HD void ring(const Qp& qp, std::uint64_t pi, Probe& probe) {
  ring_doorbell<recipe_for<P>()>(qp, pi);
  probe.on_doorbell(recipe_for<P>().doorbell);
}

template <PolicyType P, class Probe>
MARROW_HD void order_before_doorbell(const Qp& qp, Probe& probe) {
  constexpr Recipe R = recipe_for<P>();
  order_dbrec_before_doorbell<R>(qp.doorbell_mapping);
  if constexpr (R.before_doorbell != FenceKind::kNone) probe.on_fence(R.before_doorbell);
}

/// Everything before `pi` is posted. By one lane at a time; the WQEs of others that it announces must be visible to it.
template <PolicyType P, class Probe>
MARROW_HD void announce(const Qp& qp, std::uint64_t pi, Probe& probe) {
  constexpr Recipe R = recipe_for<P>();
  constexpr DoorbellSequence D = P::doorbell;
  if constexpr (D == DoorbellSequence::kEarly) order_before_doorbell<P>(qp, probe);
  if constexpr (D == DoorbellSequence::kEarly || D == DoorbellSequence::kEarlyUnfenced) ring<P>(qp, pi, probe);
  if constexpr (D != DoorbellSequence::kNoRecord && D != DoorbellSequence::kForwarded) {
    order_wqe_before_dbrec<R>();
    if constexpr (R.before_dbrec != FenceKind::kNone) probe.on_fence(R.before_dbrec);
    store_dbrec<R>(qp.dbrec_send, pi);
    probe.on_dbrec(R.dbrec);
  }
  order_before_doorbell<P>(qp, probe);
  probe.on_stage(Stage::kOrder);
  if constexpr (D == DoorbellSequence::kForwarded) {
    forward_doorbell<R, P::sharing != Sharing::kSlots>(qp, pi);
    probe.on_doorbell(R.doorbell);
  } else {
    ring<P>(qp, pi, probe);
  }
  probe.on_stage(Stage::kDoorbell);
}

/// A submit's WQEs, once for each Batching::wqes_per_doorbell of them; the last time covers all. A submit that may be
/// put off is announced once.
template <PolicyType P, class Probe>
MARROW_HD void announce_slots(const Qp& qp, const Slots& slots, Probe& probe) {
  constexpr std::uint32_t kBatch = kDefers<P> ? 0 : P::batching.wqes_per_doorbell;
  for (std::uint32_t left = slots.room.wqes; left > 0;) {
    left -= kBatch == 0 || kBatch > left ? left : kBatch;
    announce<P>(qp, slots.end() - std::uint64_t{left} * (slots.room.wqebbs + slots.room.second), probe);
  }
}

/// Whether a submit of these slots rings. \param reserved  where the next reservation will begin: behind these slots,
/// when nobody else is building.
template <PolicyType P>
[[nodiscard]] MARROW_HD bool rings_now(const Slots& slots, More more, std::uint64_t reserved) {
  constexpr PostWhen when = P::batching.when;
  constexpr std::uint32_t kBatch = P::batching.wqes_per_doorbell;
  if constexpr (when == PostWhen::kCaller) return more == More::kNo;
  if constexpr (when == PostWhen::kBoundary || when == PostWhen::kBoundaryOrIdle) {
    if (slots.first / kBatch != slots.end() / kBatch) return true;
  }
  if constexpr (when == PostWhen::kBoundaryOrIdle) return slots.room.wqes >= kBatch || reserved == slots.end();
  return when == PostWhen::kSubmit;
}

}  // namespace marrow::gda
