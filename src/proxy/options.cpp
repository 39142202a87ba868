// SPDX-License-Identifier: Apache-2.0
// What cannot be, each in one sentence, and how rings are dealt.
#include "proxy/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "util/error.h"
#include "util/ring.h"

namespace marrow::proxy {
namespace {

[[noreturn]] void refuse(const std::string& sentence, const std::string& hint = {}) {
  throw util::Error(sentence, util::ErrorKind::kUsage, hint);
}

struct Bound {
  const char* name;
  std::uint32_t WorkersOptions::*value;
  std::uint32_t least, most;
  bool power_of_two;
};
constexpr std::array<Bound, 6> kBounds{{{"workers", &WorkersOptions::workers, 1, kMaxWorkers, false},
                                        {"batch", &WorkersOptions::batch, 1, kMaxBatch, false},
                                        {"take-per-visit", &WorkersOptions::take_per_visit, 1, kMaxRingDepth, false},
                                        {"in-flight", &WorkersOptions::in_flight, 1, kMaxInFlight, true},
                                        {"send-depth", &WorkersOptions::send_depth, 2, kMaxSendDepth, true},
                                        {"stop-check-every", &WorkersOptions::stop_check_every, 1, 1u << 30, false}}};

bool is_laid_out(const Ring& ring) {
  return ring.slots != nullptr && ring.freed != nullptr && ring.done != nullptr;
}

void require_ring(const WorkersOptions& options, const WorkerRing& r, std::size_t number, bool shareable) {
  if (!is_ring_depth(r.ring.depth)) {
    refuse(fmt::format("ring {} has a depth of {}, which is no power of two from {} to {}", number, r.ring.depth,
                       kMinRingDepth, kMaxRingDepth));
  }
  if (!is_laid_out(r.ring)) refuse(fmt::format("ring {} has no memory", number));
  if (r.producers == 0) refuse(fmt::format("ring {} has no producer", number));
  if (r.producers > 1 && !shareable) {
    refuse(fmt::format("ring {} has {} producers, and its hand-off is for one", number, r.producers),
           "a hand-off that reserves slots with an atomic, or a ring for each producer");
  }
  if (r.worker != kDealt && r.worker >= options.workers) {
    refuse(fmt::format("ring {} wants worker {} of {}", number, r.worker, options.workers));
  }
}

/// Free for dealing: not the only one of a reserved ring.
using Owned = std::vector<bool>;

void deal_reserved(std::span<const WorkerRing> rings, std::vector<std::uint32_t>& worker_of, Owned& owned) {
  auto next = static_cast<std::uint32_t>(owned.size());
  for (std::size_t i = 0; i < rings.size(); ++i) {
    if (rings[i].reserved != Reserved::kWorker) continue;
    if (rings[i].worker == kDealt && next == 0) {
      refuse(fmt::format("{} workers are too few for a worker for each reserved ring", owned.size()));
    }
    const auto mine = rings[i].worker == kDealt ? --next : rings[i].worker;
    if (owned[mine]) refuse(fmt::format("worker {} is reserved for two rings", mine));
    owned[mine] = true;
    worker_of[i] = mine;
  }
}

void deal_others(std::span<const WorkerRing> rings, std::vector<std::uint32_t>& worker_of, const Owned& owned) {
  const auto workers = static_cast<std::uint32_t>(owned.size());
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < rings.size(); ++i) {
    if (rings[i].reserved == Reserved::kWorker) continue;
    std::uint32_t mine = rings[i].worker;
    if (mine == kDealt) {
      if (std::ranges::count(owned, false) == 0) refuse("every worker is reserved, and a ring is left over");
      while (owned[next % workers]) ++next;
      mine = next++ % workers;
    }
    if (owned[mine]) refuse(fmt::format("ring {} wants worker {}, which is reserved for another ring", i, mine));
    worker_of[i] = mine;
  }
}

}  // namespace

void require_valid(const WorkersOptions& options) {
  for (const auto& bound : kBounds) {
    const auto value = options.*bound.value;
    if (value < bound.least || value > bound.most || (bound.power_of_two && !util::is_pow2(value))) {
      refuse(fmt::format("{} is {}, and must be {} {} to {}", bound.name, value,
                         bound.power_of_two ? "a power of two from" : "from", bound.least, bound.most));
    }
  }
  if (options.send_depth < 2 * options.batch) {
    refuse(fmt::format("a batch of {} may be {} work requests, and send-depth is {}", options.batch, 2 * options.batch,
                       options.send_depth));
  }
  if (!options.cores.empty() && options.cores.size() != options.workers) {
    refuse(fmt::format("{} cores are named for {} workers", options.cores.size(), options.workers));
  }
  if (!options.cores.empty() && options.numa_node >= 0) refuse("both cores and a NUMA node are named");
  if (options.nap.count() < 0) refuse("a nap of negative length");
  if (options.stop_timeout.count() < 0) refuse("stop-timeout is negative");
}

void require_valid(const WorkersOptions& options, std::span<const WorkerRing> rings, bool shareable) {
  require_valid(options);
  if (rings.empty() || rings.size() > kMaxRings) {
    refuse(fmt::format("{} rings, and there must be 1 to {}", rings.size(), kMaxRings));
  }
  for (std::size_t i = 0; i < rings.size(); ++i) require_ring(options, rings[i], i, shareable);
}

std::vector<std::uint32_t> deal(const WorkersOptions& options, std::span<const WorkerRing> rings) {
  std::vector<std::uint32_t> worker_of(rings.size());
  Owned owned(options.workers, false);
  deal_reserved(rings, worker_of, owned);
  deal_others(rings, worker_of, owned);
  for (std::uint32_t w = 0; w < options.workers; ++w) {
    if (std::ranges::count(worker_of, w) == 0) {
      refuse(fmt::format("{} workers for {} rings: worker {} has none", options.workers, rings.size(), w));
    }
  }
  return worker_of;
}

}  // namespace marrow::proxy
