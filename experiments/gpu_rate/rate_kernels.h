// SPDX-License-Identifier: Apache-2.0
// What the .cu files of gpu-rate offer to plain C++.
#pragma once

#include <cstdint>

#include "experiments/gpu_rate/rows.h"
#include "gpu/launch.h"
#include "marrow/gda/queue_set.h"
#include "marrow/gda/requests.h"

namespace marrow::experiments {

/// How a repetition went, added up over its teams by atomics. Zero, but `begin_ns`, before.
struct RateReport {
  std::uint64_t begin_ns = ~0ull;  // the first team's start, by globaltimer
  std::uint64_t end_ns = 0;        // the last team's end
  std::uint32_t failed = 0;        // teams
  gda::Result result;              // of the first that failed
  gda::QueueDump dump;
};

/// One repetition.
struct RateJob {
  gda::QueueSet set;
  gda::Remote to;  // queue i's places begin at i * kRateFarBytes
  std::uint32_t rounds = 0;
  std::uint32_t teams_per_queue = 1;
  RateReport* report = nullptr;
  std::uint32_t* arrived = nullptr;  // of prebuilt bursts: CTAs that have built
};

/// After a repetition: does the far side hold the last ring's worth of each queue, and did the queue count right?
struct RateCheckReport {
  std::uint32_t wrong_places = 0;
  std::uint32_t wrong_queues = 0;
  std::uint64_t index = 0;  // of one WQE whose value is not there
  std::uint64_t seen = 0;
  std::uint64_t expected = 0;
  std::uint64_t posted = 0;  // of a queue that counted wrong
};
struct RateCheckJob {
  gda::QueueSet set;
  const std::byte* far = nullptr;
  std::uint64_t end = 0;  // WQEBBs that each queue has posted since it was made
  bool shared = false;
  RateCheckReport* report = nullptr;
};

/// From exclusive to shared use.
struct RateShareJob {
  gda::QueueSet set;
};

/// Grid: the row's CTAs; team t posts to queue t / teams_per_queue.
[[nodiscard]] gpu::Kernel<RateJob> rate_kernel_of_owners(const RateRow& row);
[[nodiscard]] gpu::Kernel<RateJob> rate_kernel_of_sharers(const RateRow& row);
/// Grid: a CTA a queue. A whole ring is built beforehand and announced by one doorbell: what the NIC can do.
[[nodiscard]] gpu::Kernel<RateJob> rate_kernel_of_bursts();
/// Grid: a CTA a queue.
[[nodiscard]] gpu::Kernel<RateCheckJob> rate_check_kernel();
/// Grid: one CTA.
[[nodiscard]] gpu::Kernel<RateShareJob> rate_share_kernel();

}  // namespace marrow::experiments
