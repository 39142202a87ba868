// SPDX-License-Identifier: Apache-2.0
// Hooks in the four verbs: what is counted and what is timed comes from the code that posts, not from a model of it.
// A probe is a type; NoProbe leaves no instruction behind. Counts are exact and the same on every machine; ticks are
// those of the lane that ran.
#pragma once

#include <cstdint>

#include "marrow/gda/policy.h"
#include "marrow/gda/team.h"

namespace marrow::gda {

/// Where time goes. kCaller is the time between two verbs; kOrder is everything of submit() but the doorbell store.
enum class Stage : std::uint8_t { kCaller, kReserve, kWrite, kOrder, kDoorbell, kWait };
inline constexpr std::uint32_t kStages = 6;

constexpr const char* stage_name(Stage stage) {
  constexpr const char* names[kStages] = {"caller", "reserve", "write", "order", "doorbell", "wait"};
  return names[static_cast<std::uint8_t>(stage)];
}

/// The hooks, all empty. A probe derives from it and hides those it wants.
struct NoProbe {
  MARROW_HD void on_wqe(std::uint32_t /*ds*/) {}  // a WQE of `ds` 16-byte stores lies in the SQ
  MARROW_HD void on_fence(FenceKind) {}           // on the posting side; never kNone
  MARROW_HD void on_dbrec(StoreKind) {}           // a dbrec store
  MARROW_HD void on_doorbell(StoreKind) {}        // a doorbell store, or the word of a forwarded one
  MARROW_HD void on_cqe() {}                      // a CQE was consumed
  MARROW_HD void on_acquire(Scope) {}             // the fence behind a CQE; never kNone
  MARROW_HD void on_atomic() {}  // an atomic on shared indices that did its work; tries are not counted
  MARROW_HD void on_stage(Stage /*that has just ended*/) {}
};

/// The mechanism's own numbers, added up over a lane's operations.
struct Counts {
  std::uint64_t wqes = 0, wqe_stores = 0, wqebbs = 0;                   // a store has 16 bytes
  std::uint64_t gpu_fences = 0, system_fences = 0, release_stores = 0;  // a release store carries its own order
  std::uint64_t dbrecs = 0, doorbells = 0, cqes = 0;                    // cqes: consumed
  std::uint64_t acquire_fences = 0, atomics = 0;

  friend constexpr bool operator==(const Counts&, const Counts&) = default;
};

struct CountingProbe : NoProbe {
  Counts counts;

  MARROW_HD void on_wqe(std::uint32_t ds) {
    ++counts.wqes;
    counts.wqe_stores += ds;
    counts.wqebbs += wire::wqebbs_of(ds);
  }
  MARROW_HD void on_fence(FenceKind kind) {
    if (kind != FenceKind::kBlock) ++(kind == FenceKind::kSystem ? counts.system_fences : counts.gpu_fences);
  }
  MARROW_HD void on_dbrec(StoreKind kind) { ++counts.dbrecs, counts.release_stores += is_release(kind); }
  MARROW_HD void on_doorbell(StoreKind kind) { ++counts.doorbells, counts.release_stores += is_release(kind); }
  MARROW_HD void on_cqe() { ++counts.cqes; }
  MARROW_HD void on_acquire(Scope) { ++counts.acquire_fences; }
  MARROW_HD void on_atomic() { ++counts.atomics; }
};

/// Ticks (lane_ticks()) per stage, added up. The first stamp of a probe only starts the clock.
struct StageProbe : NoProbe {
  std::uint64_t ticks[kStages] = {};
  std::uint64_t last = 0;

  MARROW_HD void on_stage(Stage ended) {
    const auto now = lane_ticks();
    if (last != 0) ticks[static_cast<std::uint8_t>(ended)] += now - last;
    last = now;
  }
};

}  // namespace marrow::gda
