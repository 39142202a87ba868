// SPDX-License-Identifier: Apache-2.0
// Stop 5 of 9 on the GPU: a lane watches the doorbell registers of one queue pair and reads its record.
// As cx7/hca/doorbell.cpp has it, but registers are only read, never taken: their memory is the host's, and an exchange
// across PCIe is not atomic to the host. So the same value rung twice is seen once.
#pragma once

#include "cx7/cuda/gpu_memory.cuh"
#include "cx7/cuda/tables.h"
#include "marrow/wire/doorbell.h"

namespace marrow::cx7::cuda {

inline constexpr std::uint32_t kRegisters = wire::kUarDoorbells;
inline constexpr std::uint64_t kBelievedAfterNs = 20'000;  // longer than any fence takes [guess]
inline constexpr std::uint32_t kAllRegistersEvery = 64;    // rounds; in between only the one that rang last

/// What a lane counts in registers, on the way of every message. The rest is rare and goes to memory at once.
struct Tally {
  std::uint32_t doorbells = 0;
  std::uint32_t wqes = 0;
  std::uint32_t cqes = 0;
};

/// What a lane knows of the queue that it watches.
struct Watcher {
  Progress at;
  std::uint64_t seen[kRegisters];
  std::uint32_t hot = 0;  // the register that rang last
  bool knows_own = false;
  std::uint64_t hot_seen = 0;
  std::uint32_t overheard_end = 0;       // the record when another queue's doorbell stood where ours may have been
  std::uint64_t overheard_since_ns = 0;  // 0: nothing was overheard
  bool overheard_again = false;
  bool met_stale = false;  // a doorbell announced WQE `stale` before its bytes were there
  std::uint32_t stale = 0;
  std::uint64_t clock_ns = 0;  // as of a look at the clock some rounds ago: reading it is slow
  Tally tally;
};

__device__ inline void count(unsigned long long& counter, std::uint64_t n = 1) {
  atomicAdd(&counter, static_cast<unsigned long long>(n));  // no result: the lane does not wait
}

__device__ inline const std::byte* segment_at(const QueueEntry& queue, std::uint32_t index, std::uint32_t k) {
  return queue.sq + std::uint64_t{(index + k / 4) & queue.sq_mask} * wire::kWqebbBytes + k % 4 * wire::kDsBytes;
}

/// The first three segments of a WQE.
struct Head {
  uint4 ctrl;
  uint4 remote;
  uint4 data;
};
__device__ inline Head load_head(const QueueEntry& queue, std::uint32_t index) {
  const std::byte* const block = segment_at(queue, index, 0);
  return {load128(block), load128(block + wire::kDsBytes), load128(block + 2 * wire::kDsBytes)};
}

/// Signed distance of two 16-bit queue indices.
__device__ inline std::int32_t distance16(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(a - b));
}

/// What doorbell and record both announce may be fetched; lenient: what the doorbell announces.
__device__ inline void accept(const QueueEntry& queue, Watcher& watcher, bool strict, GpuCounters& counters) {
  Progress& at = watcher.at;
  const std::uint32_t recorded = wire::swap_bytes(load32(queue.dbrec_send));
  const std::int32_t ahead = distance16(recorded, at.posted);
  std::uint32_t end = ahead > 0 ? at.posted + static_cast<std::uint32_t>(ahead) : at.posted;
  if (!strict || static_cast<std::int32_t>(at.rung - end) < 0) end = at.rung;
  if (static_cast<std::int32_t>(end - at.posted) <= 0) return;
  at.posted = end;
  if (at.posted - at.next > queue.sq_mask + 1) count(counters.strict_sq_overflow);
}

/// Another queue's doorbell stands where this one's may have stood: then the record alone says what was posted. It is
/// ahead of the WQE's bytes for as long as the poster's fence takes, so it is believed a good while later.
__device__ inline void overhear(const QueueEntry& queue, Watcher& watcher) {
  if (watcher.overheard_since_ns != 0) {
    watcher.overheard_again = true;
    return;
  }
  const std::uint32_t recorded = wire::swap_bytes(load32(queue.dbrec_send));
  const std::int32_t ahead = distance16(recorded, watcher.at.rung);
  if (ahead <= 0) return;
  watcher.overheard_end = watcher.at.rung + static_cast<std::uint32_t>(ahead);
  watcher.overheard_since_ns = now_ns();
}

/// Once a round; true when what was overheard now counts as rung.
__device__ inline bool believes(const QueueEntry& queue, Watcher& watcher) {
  const std::uint64_t since = watcher.overheard_since_ns;
  if (since == 0 || watcher.clock_ns < since + kBelievedAfterNs) return false;
  watcher.overheard_since_ns = 0;
  const bool news = static_cast<std::int32_t>(watcher.overheard_end - watcher.at.rung) > 0;
  if (news) watcher.at.rung = watcher.overheard_end;
  if (watcher.overheard_again) {
    watcher.overheard_again = false;
    overhear(queue, watcher);
  }
  return news;
}

/// A value that stands in register `k`, new or not. Another queue's may have taken the place of this one's, but not in
/// a register that this one does not use.
__device__ inline void take_in(const QueueEntry& queue, Watcher& watcher, std::uint32_t k, std::uint64_t word,
                               bool& named, bool& page_rang) {
  const auto doorbell = wire::Doorbell::from_word(word);
  if (doorbell.qpn != queue.qpn) {
    page_rang |= !watcher.knows_own || k == watcher.hot;
    return;
  }
  watcher.knows_own = true;
  const std::int32_t advance = distance16(doorbell.end(), watcher.at.rung);
  if (advance <= 0) return;
  watcher.at.rung += static_cast<std::uint32_t>(advance);
  watcher.at.named = watcher.at.rung;
  named = true;
}

/// All registers, side by side. One in which this queue's doorbell stands is its own; else all are looked at now and
/// then.
struct Registers {
  std::uint64_t words[kRegisters];
};
__device__ inline Registers load_registers(const QueueEntry& queue, Watcher& watcher) {
  Registers all;
#pragma unroll
  for (std::uint32_t k = 0; k < kRegisters; ++k) all.words[k] = load64(queue.registers + k * wire::kUarDoorbellStride);
#pragma unroll
  for (std::uint32_t k = 0; k < kRegisters; ++k) {
    if (all.words[k] == 0 || wire::Doorbell::from_word(all.words[k]).qpn != queue.qpn) continue;
    watcher.knows_own = true;
    watcher.hot = k;
  }
  return all;
}

__device__ inline void look_at_all(const QueueEntry& queue, Watcher& watcher, bool& named, bool& page_rang) {
  const Registers all = load_registers(queue, watcher);
#pragma unroll
  for (std::uint32_t k = 0; k < kRegisters; ++k) {
    const std::uint64_t word = all.words[k];
    if (k == watcher.hot) watcher.hot_seen = word;
    if (word == watcher.seen[k] || word == 0) continue;
    watcher.seen[k] = word;
    take_in(queue, watcher, k, word, named, page_rang);
  }
}

/// Looks once, and says whether something rang. The next WQE's bytes are then on their way to `head`.
__device__ inline bool rings(const QueueEntry& queue, Watcher& watcher, std::uint32_t round, Head& head,
                             bool& page_rang) {
  bool named = false;
  const std::uint64_t word = load64(queue.registers + watcher.hot * wire::kUarDoorbellStride);
  if (word != watcher.hot_seen && word != 0) {
    watcher.hot_seen = word;
    take_in(queue, watcher, watcher.hot, word, named, page_rang);
  } else if (round % kAllRegistersEvery == 0) {
    look_at_all(queue, watcher, named, page_rang);
  }
  if (named) head = load_head(queue, watcher.at.next);
  return named;
}

/// One look at the queue. Afterwards `watcher.at.posted` may be ahead of `next`; true when `head` is the next WQE's.
__device__ inline bool watch(const QueueEntry& queue, Watcher& watcher, std::uint32_t round, Head& head, bool strict,
                             GpuCounters& counters) {
  bool page_rang = false;
  const bool named = rings(queue, watcher, round, head, page_rang);
  if (page_rang) overhear(queue, watcher);
  const bool believed = believes(queue, watcher);
  const bool waits_for_record = watcher.at.rung != watcher.at.posted;
  if (!named && !believed && !waits_for_record) return false;
  accept(queue, watcher, strict, counters);
  if (!named) return false;
  ++watcher.tally.doorbells;
  if (watcher.at.rung != watcher.at.posted) count(counters.strict_doorbell_ahead_of_dbrec);
  return true;
}

}  // namespace marrow::cx7::cuda
