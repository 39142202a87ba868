// SPDX-License-Identifier: Apache-2.0
// Everything about workers that is chosen at run time: plain data, looked at once, before anything is made. How a
// descriptor is handed over is a type instead (marrow/proxy/hand_off.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "marrow/proxy/ring.h"

namespace marrow::proxy {

/// When a slot of a ring goes back to its producers.
enum class SlotFree : std::uint8_t {
  kRead,       // its descriptor was read
  kHandled,    // its request was posted
  kCompleted,  // its operation, and all before it, are complete
};

/// Which work requests ask for a CQE.
enum class Signalled : std::uint8_t { kEach, kLastOfChain };

/// What a worker does after a round in which it found nothing.
enum class Idle : std::uint8_t {
  kSpin,   // looks again
  kYield,  // sched_yield()
  kNap,    // sleeps for `nap` once `spins_before_nap` rounds in a row were empty
};

struct WorkersOptions {
  std::uint32_t workers = 1;          // T: 1 to 64
  std::uint32_t batch = 1;            // B: most requests in one ibv_post_send, 1 to 256
  std::uint32_t take_per_visit = 16;  // most descriptors taken from a ring before the next ring has its turn
  std::uint32_t in_flight = 1024;     // of one ring: most requests taken and not complete, a power of two
  std::uint32_t send_depth = 512;     // of one queue pair: work requests, a power of two, at least 2 * batch
  SlotFree slot_free_when = SlotFree::kRead;
  Signalled signalled = Signalled::kLastOfChain;

  Idle idle = Idle::kSpin;
  std::uint32_t stop_check_every = 64;  // rounds between two looks at the stop flag
  std::uint32_t spins_before_nap = 4096;
  std::chrono::microseconds nap{50};

  /// Pinning: to cores of the NIC's NUMA node, one a worker; where the NIC has none, to those the process may use.
  bool pin = true;
  bool oversubscribe = false;   // more workers than cores: they share
  int numa_node = -1;           // another node than the NIC's
  std::vector<unsigned> cores;  // or these, by the numbers that the kernel gives: one a worker

  /// stop() waits this long for what is in flight.
  std::chrono::milliseconds stop_timeout{5'000};
};

/// A ring that is not left to be dealt like all others.
enum class Reserved : std::uint8_t {
  kNo,
  kFirst,   // shares a worker, which looks at it before each of its other rings and posts what it finds at once
  kWorker,  // has a worker of its own
};

/// Where Ring::done points to.
enum class CounterPlace : std::uint8_t {
  kHost,
  kGpu,  // a write-combining mapping of GPU memory (gpu_words.h): a store is followed by a fence
};

inline constexpr std::uint32_t kDealt = ~0u;

/// A ring as its worker sees it.
struct WorkerRing {
  Ring ring;
  std::uint32_t worker = kDealt;  // in turn, unless it is named here
  Reserved reserved = Reserved::kNo;
  std::uint32_t producers = 1;  // lanes that hand over into it
  CounterPlace counter = CounterPlace::kHost;
  std::uint64_t first = 0;  // index of the first descriptor: not 0 for a ring that has been in use
};

/// What a ring becomes when N lanes share it. With a hand-off that one producer has to itself, N above 1 does not
/// compile.
template <HandOffType H, std::uint32_t N>
[[nodiscard]] WorkerRing shared_by(const Ring& ring) {
  static_assert(N >= 1, "marrow: a ring has a producer");
  static_assert(N == 1 || H::reserve != Reserve::kOwnRing,
                "marrow: Reserve::kOwnRing is for one producer a ring; SharedRing<H> is the same hand-off for several");
  return {.ring = ring, .producers = N};
}

inline constexpr std::uint32_t kMaxWorkers = 64;
inline constexpr std::uint32_t kMaxBatch = 256;
inline constexpr std::uint32_t kMaxRings = 4096;
inline constexpr std::uint32_t kMaxInFlight = 1u << 20;
inline constexpr std::uint32_t kMaxSendDepth = 1u << 15;

/// \throws util::Error of kind kUsage: one sentence about the first thing that cannot be. Cores are not looked at.
void require_valid(const WorkersOptions& options);
/// The same for rings. \param shareable  the hand-off allows several producers a ring.
void require_valid(const WorkersOptions& options, std::span<const WorkerRing> rings, bool shareable);

/// The worker of each ring. \throws util::Error when a worker would have none, or a reserved one too many.
[[nodiscard]] std::vector<std::uint32_t> deal(const WorkersOptions& options, std::span<const WorkerRing> rings);

}  // namespace marrow::proxy
