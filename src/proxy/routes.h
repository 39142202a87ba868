// SPDX-License-Identifier: Apache-2.0
// Where descriptors lead: a route names a connection and the windows that its offsets are counted from. Each worker has
// a queue pair of its own for each connection, and one CQ for them all.
//
//   Routes here({.context = context, .pd = pd, .connections = 1}, options);
//   connect(here, there);                  // or each queue(worker, connection) with its peer's address
//   const auto route = here.add({.from = a.local(), .from_bytes = n, .to = b.remote(), .to_bytes = n});
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "proxy/options.h"
#include "verbs/context.h"
#include "verbs/verbs_qp.h"

namespace marrow::proxy {

struct Route {
  gda::Local from;  // the window of Put::from
  std::uint64_t from_bytes = 0;
  gda::Remote to;  // the window of Put::to
  std::uint64_t to_bytes = 0;
  gda::Remote signals;  // 8-byte words that put_signal advances
  std::uint32_t signal_words = 0;
  std::uint32_t connection = 0;  // routes of one peer may share one
};

/// What one worker posts to and polls.
struct WorkerQueues {
  ibv_cq* cq = nullptr;
  std::vector<ibv_qp*> qps;  // by connection
  gda::Local sink;           // 8 bytes for what atomics return
};

/// What workers read while they run; the pointers are borrowed.
struct RouteTable {
  std::vector<Route> routes;
  std::vector<WorkerQueues> workers;
  ibv_context* device = nullptr;  // whose NUMA node workers are pinned to; none: any
};

struct RoutesOptions {
  const verbs::Context& context;
  const verbs::Pd& pd;
  std::uint32_t connections = 1;
  verbs::Behaviour behaviour = {};
};

/// Owns the queue pairs. They must outlive the workers.
class Routes {
 public:
  /// Makes workers * connections queue pairs. \throws util::Error when the device refuses.
  Routes(const RoutesOptions& where, const WorkersOptions& workers);

  [[nodiscard]] std::uint32_t workers() const { return static_cast<std::uint32_t>(cqs_.size()); }
  [[nodiscard]] std::uint32_t connections() const { return connections_; }
  /// To be connected by the caller, before workers start.
  [[nodiscard]] verbs::VerbsQp& queue(std::uint32_t worker, std::uint32_t connection);

  /// The number to put into descriptors. \throws util::Error: no such connection, or 4096 routes are there.
  std::uint32_t add(const Route& route);
  [[nodiscard]] RouteTable table() const;

 private:
  std::uint32_t connections_;
  ibv_context* device_;
  std::vector<verbs::CqHandle> cqs_;                     // by worker
  std::vector<std::unique_ptr<verbs::VerbsQp>> queues_;  // by worker, then connection
  std::unique_ptr<verbs::HostBuffer> sinks_;
  std::unique_ptr<verbs::Mr> sinks_mr_;
  std::vector<Route> routes_;
};

/// \throws util::Error unless there are queues for each worker and each route leads to one.
void require_queues(const WorkersOptions& options, const RouteTable& routes);

/// Two ends in one process: queue by queue. \throws util::Error when they differ in number.
void connect(Routes& a, Routes& b);

}  // namespace marrow::proxy
