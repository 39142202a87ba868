// SPDX-License-Identifier: Apache-2.0
// What the host hands to the kernels of a GPU lane and gets back: plain data. One thread of one CTA a lane, as in the
// paper.
#pragma once

#include <cstddef>
#include <cstdint>

#include "experiments/common/poster.h"
#include "experiments/common/put_loop.h"
#include "experiments/common/trip_loop.h"
#include "gpu/clocks.h"
#include "marrow/gda/probe.h"
#include "marrow/gda/queue_set.h"
#include "marrow/gda/requests.h"

namespace marrow::experiments {

/// Bytes that did not arrive as they were sent. `bytes` is 0 where all did.
struct Mismatch {
  std::uint64_t operation = 0;
  std::uint32_t bytes = 0;
  std::uint32_t at = 0;  // of four bytes that differ
  std::uint32_t seen = 0;
  std::uint32_t expected = 0;
};

/// How a lane's loop went. `dump` is filled where `result` is no success.
struct LaneReport {
  std::uint64_t operations = 0;  // that were accepted, warm-up included
  gda::Result result;            // of the last wait
  gda::QueueDump dump;
  Mismatch mismatch;
  gda::Counts counts;       // of a counting probe
  gpu::Span span;           // of the loop: what a tick is
  bool unanswered = false;  // a round trip had no answer within its limit
};

/// Ticks of the stages of one put, by gda::Stage.
struct StageTicks {
  std::uint64_t ticks[gda::kStages] = {};
};

/// Single puts. Pointers are the GPU's; `stamps` and `stages` may be null where the kernel keeps none.
struct PutJob {
  gda::Qp qp;
  gda::QueueSet set = {};               // for posters of several queues: all of them, `qp` the first
  Aims aims = {};                       // for posters of a DCI
  Route route;                          // bytes: a multiple of 4
  const std::byte* far = nullptr;       // where the puts arrive, as this GPU sees it
  std::uint64_t first = 0;              // number of the first operation, for the stamps
  std::uint64_t warmup = 0;             // operations that are verified and not kept
  std::uint64_t operations = 0;         // that are kept
  const std::uint32_t* stop = nullptr;  // gpu::StopWord
  PutStamps* stamps = nullptr;
  StageTicks* stages = nullptr;
  LaneReport* report = nullptr;
};

/// One side of a round trip.
struct TripEnd {
  gda::Qp qp;
  Route route;
  Mailbox box;
};

/// A trip by both clocks of the GPU.
struct GpuTripStamps {
  TripStamps ticks;
  std::uint64_t start_ns = 0;  // globaltimer, read outside the ticks
  std::uint64_t end_ns = 0;
};

/// Round trips between CTA 0 (near) and CTA 1 (far) of one kernel.
struct TripJob {
  TripEnd near;
  TripEnd far;
  std::uint64_t warmup = 0;
  std::uint64_t operations = 0;
  std::uint64_t delay_ns = 0;              // of the far lane, before every second answer
  std::uint64_t limit_ns = 2'000'000'000;  // for a word to arrive
  const std::uint32_t* stop = nullptr;
  std::uint32_t* near_ended = nullptr;  // one word in GPU memory, 0
  GpuTripStamps* stamps = nullptr;
  LaneReport* reports = nullptr;  // of near and far
};

}  // namespace marrow::experiments
