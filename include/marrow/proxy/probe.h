// SPDX-License-Identifier: Apache-2.0
// Hooks in the hand-off: what is counted comes from the code that hands over. NoProbe leaves no instruction behind.
#pragma once

#include <cstdint>

#include "marrow/proxy/hand_off.h"

namespace marrow::proxy {

struct NoProbe {
  MARROW_HD void on_atomic() {}
  MARROW_HD void on_credit_read() {}    // the worker's index was read
  MARROW_HD void on_fence(PreFence) {}  // never kNone
  MARROW_HD void on_stores(std::uint32_t /*stores*/, bool /*the last one releases*/) {}
  MARROW_HD void on_done_read() {}  // the completion word was read
};

/// The mechanism's own numbers, added up over a producer's descriptors. They are exact while no ring is full.
struct Counts {
  std::uint64_t descriptors = 0, atomics = 0, credit_reads = 0, gpu_fences = 0, system_fences = 0;
  std::uint64_t stores = 0, release_stores = 0, done_reads = 0;

  friend constexpr bool operator==(const Counts&, const Counts&) = default;
};

struct CountingProbe : NoProbe {
  Counts counts;

  MARROW_HD void on_atomic() { ++counts.atomics; }
  MARROW_HD void on_credit_read() { ++counts.credit_reads; }
  MARROW_HD void on_fence(PreFence fence) { ++(fence == PreFence::kSystem ? counts.system_fences : counts.gpu_fences); }
  MARROW_HD void on_stores(std::uint32_t stores, bool release) {
    ++counts.descriptors;
    counts.stores += stores;
    counts.release_stores += release;
  }
  MARROW_HD void on_done_read() { ++counts.done_reads; }
};

}  // namespace marrow::proxy
