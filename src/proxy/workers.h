// SPDX-License-Identifier: Apache-2.0
// The workers of a proxy: CPU threads that take descriptors out of rings, build RDMA writes of them and post them
// through libibverbs. The CPU's half of a message's path; the lane's half is marrow/proxy/producer.h, and docs/proxy.md
// follows one descriptor through both.
//
//   proxy::Workers<proxy::Tuned> workers(options, routes.table(), rings);
//   workers.start();
//   ...                     // lanes put and wait
//   workers.stop();
//   record(workers.report());
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "marrow/proxy/consumer.h"
#include "proxy/options.h"
#include "proxy/report.h"
#include "proxy/routes.h"

namespace marrow::proxy {

/// T threads and their rings. What it promises:
/// - Each descriptor is taken once and posted once, in its ring's order; a ring's operations complete in order.
/// - A request that finds no room waits in its ring's turn; it is neither lost nor posted twice.
/// - The first failure on a ring is its last word: Progress::failure, the syndrome of the error CQE or kBadRequest.
/// What
///   came before it completes; what comes behind it is taken, not posted, and fails with it. Rings that did not use the
///   connection go on; those that did see kFlushed.
/// - After stop() each ring says kFlushed to whatever had not completed, and to whatever is handed over later.
/// - While there is work, a worker allocates nothing, takes no lock and makes no system call.
/// start() and stop() are for one thread; the rest may be called while workers run.
template <HandOffType H>
class Workers {
 public:
  /// Starts nothing. \throws util::Error about options, rings, routes or cores that cannot be.
  Workers(const WorkersOptions& options, const RouteTable& routes, std::span<const WorkerRing> rings);
  ~Workers();  // stops
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Once. \throws util::Error when a thread cannot be made or pinned; none runs then.
  void start();
  /// Waits for what is in flight, at most WorkersOptions::stop_timeout (what is late then fails with kTimeout), and
  /// joins. Descriptors that nobody has taken are not posted. Harmless when nothing runs.
  void stop();

  [[nodiscard]] WorkersReport report() const;
  /// A worker's numbers: exact after stop(), and while it runs as old as its last store.
  [[nodiscard]] WorkerCounters counters(std::uint32_t worker) const;
  [[nodiscard]] WorkerCounters total() const;
  /// Descriptors taken out of a ring, after stop(): where a later Workers would go on (WorkerRing::first).
  [[nodiscard]] std::uint64_t taken(std::uint32_t ring) const;
};

}  // namespace marrow::proxy
