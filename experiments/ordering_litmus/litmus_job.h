// SPDX-License-Identifier: Apache-2.0
// What the host hands to a lane of ordering-litmus and gets back: plain data, on host lanes and GPU lanes alike.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/clocks.h"
#include "marrow/gda/policy.h"
#include "marrow/gda/requests.h"

namespace marrow::experiments {

/// The compiler refuses a GPU-scope ordering for queues in host memory (gda/check_policy.h). Here such pairs are the
/// question, so this policy says of any queue that it lies in the lane's own memory; the host then puts it elsewhere.
template <gda::PolicyType P>
struct Unguarded : P {
  static constexpr gda::Placement placement{gda::Mem::kLane, gda::Mem::kLane, P::placement.dbrec};
};

inline constexpr unsigned kCrowdBlocks = 4;  // few threads fill the way to the host; many starve the lane
inline constexpr unsigned kCrowdThreads = 128;
inline constexpr std::size_t kCrowdBytes = std::size_t{64} << 10;  // of a CTA, over and over

/// A loop of puts, each into a slot of its own. Pointers are the lane's.
struct LitmusJob {
  gda::Qp qp;
  gda::Remote to;                       // the slots of this loop
  const std::byte* far = nullptr;       // the same as this lane sees them
  gda::Local from;                      // pointer payload: a ring of `sources` payloads
  std::uint32_t sources = 0;            // a power of two, at least twice the SQ
  std::uint32_t bytes = 8;              // a put; a multiple of 8
  std::uint32_t batch = 1;              // puts under one doorbell
  bool awaits = false;                  // each doorbell's CQE, before the next; else only room in the ring
  std::uint64_t first = 0;              // number of the first put, for the stamps
  std::uint64_t puts = 0;               // a multiple of `batch`
  std::byte* crowd = nullptr;           // a GPU: host memory that other CTAs store to meanwhile, kCrowdBytes each
  std::uint32_t* crowd_ends = nullptr;  // in GPU memory: not 0 when the lane has ended
  const std::uint32_t* stop = nullptr;  // gpu::StopWord
  std::uint64_t* issue = nullptr;       // ticks of each submit, where kept
};

struct LitmusReport {
  std::uint64_t puts = 0;   // done
  std::uint64_t cqes = 0;   // awaited, after each of which the lane looked at the far slot
  std::uint64_t early = 0;  // of these: the bytes came later
  gda::Result result;
  gda::QueueDump dump;  // filled where `result` is no success
  gpu::Span span;       // on a GPU: what a tick is
};

}  // namespace marrow::experiments
