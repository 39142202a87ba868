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

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/options.h"
#include "proxy/pinning.h"
#include "proxy/report.h"
#include "proxy/routes.h"
#include "proxy/worker.h"
#include "util/error.h"

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

 private:
  void run(std::uint32_t worker, std::promise<int> pinned);

  WorkersOptions options_;
  std::vector<WorkerPlace> places_;
  std::vector<std::uint32_t> worker_of_;           // by ring
  std::vector<std::vector<std::uint32_t>> rings_;  // by worker
  std::vector<std::unique_ptr<Worker<H>>> workers_;
  std::vector<std::thread> threads_;
  bool started_ = false;
  alignas(64) std::atomic<bool> stop_{false};
};

template <HandOffType H>
Workers<H>::Workers(const WorkersOptions& options, const RouteTable& routes, std::span<const WorkerRing> rings)
    : options_(options), rings_(options.workers) {
  require_valid(options, rings, H::reserve != Reserve::kOwnRing);
  require_queues(options, routes);
  for (const auto& r : rings) {
    if (H::mark == Mark::kReadyWord && r.ring.ready == nullptr) {
      throw util::Error("a ring has no ready words, and its hand-off needs them", util::ErrorKind::kUsage);
    }
  }
  worker_of_ = deal(options, rings);
  places_ = choose_places(options, routes.device);
  for (std::uint32_t i = 0; i < rings.size(); ++i) rings_[worker_of_[i]].push_back(i);
  for (std::uint32_t w = 0; w < options.workers; ++w) {
    WorkerTask task{.options = options_, .routes = routes, .number = w};
    for (const auto i : rings_[w]) task.rings.push_back(rings[i]);
    workers_.push_back(std::make_unique<Worker<H>>(task));
  }
}

template <HandOffType H>
Workers<H>::~Workers() {
  stop();
}

template <HandOffType H>
void Workers<H>::start() {
  if (started_) throw util::Error("these workers have been started before");
  started_ = true;
  std::vector<std::future<int>> pinned;
  for (std::uint32_t w = 0; w < workers_.size(); ++w) {
    std::promise<int> promise;
    pinned.push_back(promise.get_future());
    threads_.emplace_back(&Workers::run, this, w, std::move(promise));
  }
  for (std::uint32_t w = 0; w < pinned.size(); ++w) {
    if (const int error = pinned[w].get(); error != 0) {
      stop();
      throw util::system_error("pin worker " + std::to_string(w) + " to core " + std::to_string(places_[w].core),
                               error);
    }
  }
}

template <HandOffType H>
void Workers<H>::run(std::uint32_t worker, std::promise<int> pinned) {
  ::pthread_setname_np(::pthread_self(), ("proxy-" + std::to_string(worker)).c_str());
  const auto& place = places_[worker];
  const int error = place.pinned ? pin_this_thread(place.core) : 0;
  pinned.set_value(error);
  workers_[worker]->run(stop_);
}

template <HandOffType H>
void Workers<H>::stop() {
  stop_.store(true, std::memory_order_relaxed);
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

template <HandOffType H>
WorkersReport Workers<H>::report() const {
  WorkersReport report;
  for (std::uint32_t w = 0; w < workers_.size(); ++w) {
    report.workers.push_back({.place = places_[w], .core = {}, .counters = counters(w), .rings = rings_[w]});
    if (places_[w].pinned) report.workers.back().core = read_core(places_[w].core);
  }
  return report;
}

template <HandOffType H>
WorkerCounters Workers<H>::counters(std::uint32_t worker) const {
  return workers_.at(worker)->counters();
}

template <HandOffType H>
WorkerCounters Workers<H>::total() const {
  WorkerCounters all;
  for (const auto& worker : workers_) all += worker->counters();
  return all;
}

template <HandOffType H>
std::uint64_t Workers<H>::taken(std::uint32_t ring) const {
  const auto& mine = rings_[worker_of_.at(ring)];
  const auto at = std::ranges::find(mine, ring) - mine.begin();
  return workers_[worker_of_[ring]]->taken(static_cast<std::size_t>(at));
}

}  // namespace marrow::proxy
