// SPDX-License-Identifier: Apache-2.0
// Which stores and fences stand between a WQE and its doorbell: the seven orderings that are compared, as a table.
// order.h emits a row, probes count it, tools/ptx_check looks for it in the PTX. Read at stop 4 of 9.
// Facts: the recipes are what GPU libraries use [obs: their sources]; that GPU scope is enough for queues in that GPU's
// own memory is a machine-level argument, promised by nobody [guess].
#pragma once

#include <cstdint>

#include "marrow/wire/host_device.h"

namespace marrow::gda {

/// The seven recipes that are compared (recipe_of() has each, step by step). "Safe" means: the NIC cannot fetch
/// bytes older than the doorbell announces. Costs fall on the posting lane; on a GPU they grow downwards.
enum class Ordering : std::uint8_t {
  kNone,                // promises nothing: the control that shows what the others cost
  kGpuFence,            // safe for queues in this GPU's memory; one GPU-scope fence before the doorbell
  kGpuFenceDbrec,       // also orders WQEs before the dbrec, for a NIC that fetches by dbrec; two GPU-scope fences
  kGpuReleaseStore,     // safe for queues in this GPU's memory; dbrec and doorbell are release stores, no fence
  kThreadfence,         // as kGpuFenceDbrec and sequentially consistent; two __threadfence()
  kSystemReleaseStore,  // safe wherever the queues lie; the doorbell is a system-scope release store
  kSystemFence,         // safe wherever the queues lie; one system-scope fence before the doorbell
  kCustom,              // Policy::custom_recipe: what it promises is what it says
};
inline constexpr std::uint32_t kOrderings = 7;  // without kCustom

enum class FenceKind : std::uint8_t { kNone, kGpu, kGpuSequential, kSystem, kGpuRelease, kGpuAcquire, kBlock };
enum class StoreKind : std::uint8_t {
  kPlain,
  kVolatile,
  kRelaxedSystem,
  kMmio,
  kReleaseGpu,
  kReleaseSystem,
  kSequentialSystem,  // a sequentially consistent fence of system scope, and a relaxed store
};
enum class Scope : std::uint8_t { kNone, kGpu, kSystem, kBlock };

MARROW_HD constexpr bool is_release(StoreKind kind) {
  return kind == StoreKind::kReleaseGpu || kind == StoreKind::kReleaseSystem;
}

/// One row of the comparison.
struct Recipe {
  FenceKind before_dbrec;
  StoreKind dbrec;
  FenceKind before_doorbell;
  StoreKind doorbell;
  Scope poll;  // of the CQE load, and of the fence between it and what the completion allows
};

MARROW_HD constexpr Recipe recipe_of(Ordering ordering) {
  constexpr Recipe rows[kOrderings] = {
      {FenceKind::kNone, StoreKind::kPlain, FenceKind::kNone, StoreKind::kMmio, Scope::kNone},
      {FenceKind::kNone, StoreKind::kRelaxedSystem, FenceKind::kGpu, StoreKind::kMmio, Scope::kGpu},
      {FenceKind::kGpu, StoreKind::kRelaxedSystem, FenceKind::kGpu, StoreKind::kMmio, Scope::kGpu},
      {FenceKind::kNone, StoreKind::kReleaseGpu, FenceKind::kNone, StoreKind::kReleaseGpu, Scope::kGpu},
      {FenceKind::kGpuSequential, StoreKind::kVolatile, FenceKind::kGpuSequential, StoreKind::kVolatile, Scope::kGpu},
      {FenceKind::kNone, StoreKind::kRelaxedSystem, FenceKind::kNone, StoreKind::kReleaseSystem, Scope::kSystem},
      {FenceKind::kNone, StoreKind::kRelaxedSystem, FenceKind::kSystem, StoreKind::kMmio, Scope::kSystem},
  };
  return rows[static_cast<std::uint8_t>(ordering)];
}

/// True for the control, whose stores may pass each other.
MARROW_HD constexpr bool orders_nothing(const Recipe& r) {
  return r.before_dbrec == FenceKind::kNone && r.before_doorbell == FenceKind::kNone && !is_release(r.doorbell) &&
         r.doorbell != StoreKind::kSequentialSystem;
}

}  // namespace marrow::gda
