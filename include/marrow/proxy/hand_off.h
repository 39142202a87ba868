// SPDX-License-Identifier: Apache-2.0
// How a producer hands a descriptor to a CPU worker, as types: one enumerator a choice, each with what it promises and
// what it costs. The first stop of a message that a CPU submits (docs/proxy.md).
// Facts: the choices are those that GPU libraries make [obs: their sources]; costs on a GPU are crossings of PCIe: a
// posted store is none, a read or a system-scope fence is a whole one each.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "marrow/gda/policy.h"

namespace marrow::proxy {

/// How a producer gets the number of its slot.
enum class Reserve : std::uint8_t {
  kOwnRing,       // one producer a ring: the index is in a register; a second producer corrupts the ring
  kGpuAtomic,     // any number of producers of one GPU: an atomic on the ring's head in the lane's memory
  kSystemAtomic,  // the same at system scope, for a head that other processors add to as well
};

/// How it learns that the worker has freed the slot.
enum class Credit : std::uint8_t {
  kReadAlways,  // reads the worker's index for each descriptor: a PCIe read each when it lies in host memory
  kCached,      // keeps what was read last, beside the ring's head, and reads again only when that says: full
};

/// By what the worker knows that a descriptor has arrived whole.
enum class Mark : std::uint8_t {
  kReadyWord,    // a word beside the ring, stored behind the descriptor: nothing in the descriptor, one store more
  kPhase,        // the lap's parity in every 8 bytes: nothing to clear, any order of arrival
  kFlag,         // a bit in every 8 bytes: any order of arrival, and the worker clears them
  kNonZeroWord,  // the first 8 bytes are not zero: the worker clears them; needs an ordered or a single store
};

/// Orders the caller's earlier stores, which is to say the payload, before the descriptor.
enum class PreFence : std::uint8_t { kNone, kGpu, kSystem };

/// The store by which the worker sees the descriptor.
enum class Publish : std::uint8_t {
  kPosted,        // relaxed: leaves at once and orders nothing
  kRelease,       // at system scope: behind everything that this thread has stored; waits for that to arrive
  kWriteThrough,  // weak, kept in no cache
  kVolatile8,     // 8 bytes at a time
};

/// Base of all hand-offs: what one does not name keeps this. It is the whole of `tuned`.
struct HandOff {
  static constexpr Reserve reserve = Reserve::kOwnRing;
  static constexpr Credit credit = Credit::kCached;
  static constexpr Mark mark = Mark::kPhase;
  static constexpr PreFence pre_fence = PreFence::kNone;
  static constexpr Publish publish = Publish::kPosted;
  static constexpr std::uint32_t desc_bytes = 16;  // 16, 32, 64 or 128; beyond 16 they carry nothing but marks
  static constexpr gda::Residence residence = gda::Residence::kRegisters;  // of the Ring, as of a send queue's handle
};

template <class H>
concept HandOffType = std::derived_from<H, HandOff> && requires {
  { H::name } -> std::convertible_to<std::string_view>;
};

/// Whether the worker's NIC is sure to read what this thread stored before it handed the descriptor over. Where not,
/// the payload must have been ordered by the caller, or by the end of an earlier kernel.
template <HandOffType H>
[[nodiscard]] constexpr bool orders_payload() {
  return H::publish == Publish::kRelease || H::pre_fence == PreFence::kSystem;
}

/// Instantiated by producers and consumers. The sentences are part of the interface: tests/proxy looks for them.
template <HandOffType H>
struct CheckHandOff {
  static_assert(H::desc_bytes == 16 || H::desc_bytes == 32 || H::desc_bytes == 64 || H::desc_bytes == 128,
                "marrow: a descriptor has 16, 32, 64 or 128 bytes");
  static_assert(H::mark != Mark::kReadyWord || H::publish == Publish::kRelease,
                "marrow: a ready word beside the ring needs Publish::kRelease, else it overtakes its descriptor");
  static_assert(H::mark != Mark::kNonZeroWord || H::desc_bytes == 16,
                "marrow: a descriptor of several stores needs a mark in every 8 bytes, or a ready word");
  static_assert(H::mark != Mark::kNonZeroWord || H::publish == Publish::kPosted || H::publish == Publish::kRelease,
                "marrow: a mark in the first 8 bytes alone needs a store that cannot be torn: kPosted or kRelease");
  static constexpr bool ok = true;
};

// The two ends and the steps between them: each names one thing that it does better than the one before it.
struct Baseline : HandOff {
  static constexpr std::string_view name = "baseline";
  static constexpr Reserve reserve = Reserve::kGpuAtomic;
  static constexpr Credit credit = Credit::kReadAlways;
  static constexpr Mark mark = Mark::kReadyWord;
  static constexpr Publish publish = Publish::kRelease;
};
struct OwnRing : Baseline {
  static constexpr std::string_view name = "own-ring";
  static constexpr Reserve reserve = Reserve::kOwnRing;
};
struct CachedCredit : OwnRing {
  static constexpr std::string_view name = "cached-credit";
  static constexpr Credit credit = Credit::kCached;
};
struct PhaseMark : CachedCredit {
  static constexpr std::string_view name = "phase-mark";
  static constexpr Mark mark = Mark::kPhase;
};
struct Tuned : PhaseMark {
  static constexpr std::string_view name = "tuned";
  static constexpr Publish publish = Publish::kPosted;
};
using HandOffSteps = gda::List<Baseline, OwnRing, CachedCredit, PhaseMark, Tuned>;

// Variations of any hand-off; the name stays.
template <class H>
struct SharedRing : H {
  static constexpr Reserve reserve = Reserve::kGpuAtomic;
};
/// For a kernel whose registers are its own.
template <class H>
struct Lean : H {
  static constexpr gda::Residence residence = gda::Residence::kMemory;
};
template <class H, PreFence F>
struct Fenced : H {
  static constexpr PreFence pre_fence = F;
};

}  // namespace marrow::proxy
