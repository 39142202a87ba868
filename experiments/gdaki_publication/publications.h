// SPDX-License-Identifier: Apache-2.0
// The ways of publishing that gdaki-publication compares, and what one put by each must cost, for both lanes. The first
// six differ in one thing each and share mini-gda's ordering; the last four are what NCCL's GDAKI does and did [obs:
// its sources, 2.28.9 to 2.30.7]: CQE for each WQE, system-scope poll, streaming stores.
#pragma once

#include <string_view>

#include "marrow/gda/policy.h"
#include "marrow/gda/probe.h"

namespace marrow::experiments {

using gda::DoorbellSequence;
using gda::FenceKind;
using gda::PostLock;
using gda::Turn;

struct NobodyElse : gda::GpuFence {
  static constexpr std::string_view name = "exclusive";
};
struct LockForWqe : gda::Locked<gda::GpuFence> {
  static constexpr std::string_view name = "lock-per-wqe";
};
struct ReadyIndex : gda::Shared<gda::GpuFence, Turn::kReadyIndex> {
  static constexpr std::string_view name = "ready-index";
};
struct CompareSwap : gda::Shared<gda::GpuFence, Turn::kCompareSwap> {
  static constexpr std::string_view name = "compare-swap";
};
struct TurnIsLock : gda::Shared<gda::GpuFence, Turn::kReadyIndex, PostLock::kTurn> {
  static constexpr std::string_view name = "turn-is-lock";
};
/// Needs a NIC that takes a doorbell without a record.
struct AtomicMax
    : gda::Rings<gda::Shared<gda::GpuFence, Turn::kCompareSwap, PostLock::kNone>, DoorbellSequence::kNoRecord> {
  static constexpr std::string_view name = "atomic-max";
};

template <Turn T, PostLock L, DoorbellSequence D>
struct LikeGdaki : gda::Policy {
  static constexpr gda::Ordering ordering = gda::Ordering::kCustom;
  static constexpr gda::Recipe custom_recipe{FenceKind::kNone, gda::StoreKind::kRelaxedSystem, FenceKind::kGpuRelease,
                                             gda::StoreKind::kMmio, gda::Scope::kSystem};
  static constexpr gda::WqeStore wqe_store = gda::WqeStore::kStreaming;
  static constexpr gda::Sharing sharing = gda::Sharing::kSlots;
  static constexpr gda::Publication publication{T, L, FenceKind::kGpuRelease, FenceKind::kGpuAcquire};
  static constexpr DoorbellSequence doorbell = D;
  static constexpr gda::Completion completion{gda::Signal::kEvery};
};
struct Gdaki228 : LikeGdaki<Turn::kReadyIndex, PostLock::kLock, DoorbellSequence::kEarly> {
  static constexpr std::string_view name = "gdaki-2.28";
};
struct Gdaki230 : LikeGdaki<Turn::kCompareSwap, PostLock::kLock, DoorbellSequence::kEarlyUnfenced> {
  static constexpr std::string_view name = "gdaki-2.30";
};
/// Its "reliable doorbell": needs what AtomicMax needs.
struct GdakiReliable : LikeGdaki<Turn::kCompareSwap, PostLock::kNone, DoorbellSequence::kNoRecord> {
  static constexpr std::string_view name = "gdaki-reliable";
};
/// Its CPU handler: an atomic maximum on a word of the host, and a host thread that rings once.
struct GdakiHostRung : gda::Forwarded<LikeGdaki<Turn::kReadyIndex, PostLock::kNone, DoorbellSequence::kRecord>> {
  static constexpr std::string_view name = "gdaki-cpu-handler";
};

using Publications = gda::List<NobodyElse, LockForWqe, ReadyIndex, CompareSwap, TurnIsLock, AtomicMax, Gdaki228,
                               Gdaki230, GdakiReliable, GdakiHostRung>;

/// Those whose rate is measured, with many lanes on each queue.
using RatedPublications = gda::List<ReadyIndex, CompareSwap, Gdaki228, Gdaki230>;
inline constexpr std::uint32_t kRatedQueues = 16;  // the paper's contexts

/// What varies in one put with nobody else on the queue; each is derived from the steps, none from the code.
struct Steps {
  std::string_view name;
  std::uint64_t atomics;     // of: reserve, lock, turn, maximum, progress
  std::uint64_t gpu_fences;  // before and after the turn, behind the lock, before each doorbell
  std::uint64_t records = 1;
  std::uint64_t doorbells = 1;
};
inline constexpr Steps kSteps[] = {
    {"exclusive", 0, 1},         {"lock-per-wqe", 2, 2},        {"ready-index", 4, 4},      {"compare-swap", 5, 3},
    {"turn-is-lock", 2, 1},      {"atomic-max", 4, 2, 0},       {"gdaki-2.28", 4, 5, 1, 2}, {"gdaki-2.30", 5, 4, 1, 2},
    {"gdaki-reliable", 4, 3, 0}, {"gdaki-cpu-handler", 3, 3, 0}};

constexpr gda::Counts counts_of_publication(std::string_view name) {
  for (const auto& steps : kSteps) {
    if (steps.name != name) continue;
    return {.wqes = 1,
            .wqe_stores = 3,
            .wqebbs = 1,
            .gpu_fences = steps.gpu_fences,
            .dbrecs = steps.records,
            .doorbells = steps.doorbells,
            .cqes = 1,
            .acquire_fences = 1,
            .atomics = steps.atomics};
  }
  return {};
}

}  // namespace marrow::experiments
