// SPDX-License-Identifier: Apache-2.0
// A ring of descriptors in memory that producer and worker share, and the two words by which the worker answers.
// Plain data, passed to kernels by value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "marrow/gda/status.h"
#include "marrow/proxy/hand_off.h"

namespace marrow::proxy {

/// What producers keep between two uses of a ring, in the lane's memory: zero for a fresh one.
struct alignas(64) ProducerState {
  std::uint64_t head = 0;   // the next index
  std::uint64_t freed = 0;  // Credit::kCached: what the worker's index was when it was read last
};

/// The pointers are those of whoever holds the struct: a lane's differ from the worker's where memory is mapped twice.
/// All indices are 64-bit and free-running; slot = index modulo depth.
struct Ring {
  std::byte* slots = nullptr;          // depth * desc_bytes, zero for a fresh ring
  std::uint32_t* ready = nullptr;      // depth words, zero for a fresh ring; Mark::kReadyWord only
  std::uint64_t* freed = nullptr;      // worker: descriptors below this may be overwritten
  std::uint64_t* done = nullptr;       // worker: see Progress; host memory, or GPU memory that the worker can write
  ProducerState* producers = nullptr;  // the worker has none
  std::uint64_t timeout_ns = 10'000'000'000;  // longest wait for a free slot or for a completion
  std::uint32_t depth = 0;                    // a power of two

  [[nodiscard]] MARROW_HD constexpr std::uint32_t mask() const { return depth - 1; }
};
static_assert(std::is_trivially_copyable_v<Ring>, "kernels take a Ring by value");

/// The word behind Ring::done: how many operations are complete without error, in order, and how the next one failed.
struct Progress {
  std::uint64_t completed = 0;  // below 2^56
  gda::Status failure = gda::Status::kOk;

  [[nodiscard]] MARROW_HD static constexpr Progress from_word(std::uint64_t word) {
    return {word & kMost, static_cast<gda::Status>(word >> 56)};
  }
  [[nodiscard]] MARROW_HD constexpr std::uint64_t word() const {
    return (completed & kMost) | std::uint64_t{static_cast<std::uint8_t>(failure)} << 56;
  }

 private:
  static constexpr std::uint64_t kMost = (1ull << 56) - 1;
};

/// The parity that marks index's lap; a zeroed slot has none that is valid.
[[nodiscard]] MARROW_HD constexpr std::uint64_t phase_of(std::uint64_t index, std::uint32_t depth) {
  return (index & depth) == 0 ? 1 : 0;
}
/// What the ready word of index's slot holds once it is there: differs in 2^32 / depth laps in a row.
[[nodiscard]] MARROW_HD constexpr std::uint32_t ready_of(std::uint64_t index) {
  return static_cast<std::uint32_t>(index) + 1;
}

inline constexpr std::uint32_t kMinRingDepth = 2;
inline constexpr std::uint32_t kMaxRingDepth = 1u << 20;
[[nodiscard]] constexpr bool is_ring_depth(std::uint64_t depth) {
  return depth >= kMinRingDepth && depth <= kMaxRingDepth && (depth & (depth - 1)) == 0;
}

inline constexpr std::size_t kRingAlignment = 128;  // of its memory; what the worker writes has lines of its own

/// Bytes of shared memory that a ring needs; 0 for a depth that is none.
template <HandOffType H>
[[nodiscard]] constexpr std::size_t ring_bytes(std::uint64_t depth) {
  if (!is_ring_depth(depth)) return 0;
  const auto whole_lines = [](std::size_t bytes) {
    return (bytes + kRingAlignment - 1) / kRingAlignment * kRingAlignment;
  };
  const auto ready = H::mark == Mark::kReadyWord ? depth * sizeof(std::uint32_t) : 0;
  return 2 * kRingAlignment + whole_lines(depth * H::desc_bytes) + whole_lines(ready);
}

/// Divides ring_bytes() of zeroed memory at `base`; both sides call it with their own addresses of the same memory.
template <HandOffType H>
[[nodiscard]] Ring lay_out_ring(std::byte* base, std::uint32_t depth, ProducerState* producers) {
  Ring ring{.freed = reinterpret_cast<std::uint64_t*>(base),
            .done = reinterpret_cast<std::uint64_t*>(base + kRingAlignment),
            .producers = producers,
            .depth = depth};
  ring.slots = base + 2 * kRingAlignment;
  if (H::mark == Mark::kReadyWord) {
    ring.ready = reinterpret_cast<std::uint32_t*>(ring.slots + std::size_t{depth} * H::desc_bytes);
  }
  return ring;
}

}  // namespace marrow::proxy
