// SPDX-License-Identifier: Apache-2.0
// See routes.h. A CQ is made for one thread, so that libmlx5 takes no lock for it [abi: ibv_create_cq_ex(3)].
#include "proxy/routes.h"

#include <fmt/format.h>

#include <cerrno>

#include "marrow/proxy/descriptor.h"
#include "util/error.h"

namespace marrow::proxy {
namespace {

constexpr std::size_t kSinkStride = 64;

verbs::CqHandle make_cq(const verbs::Context& context, std::uint64_t entries) {
  ibv_device_attr limits{};
  if (const int error = ibv_query_device(context.get(), &limits); error != 0) {
    throw util::system_error(fmt::format("query {}", context.name()), error);
  }
  if (entries > static_cast<std::uint64_t>(limits.max_cqe)) {
    throw util::Error(fmt::format("a worker's CQ would have {} entries, and {} has at most {}", entries, context.name(),
                                  limits.max_cqe),
                      util::ErrorKind::kUsage, "fewer connections or a smaller send-depth");
  }
  ibv_cq_init_attr_ex attributes{};
  attributes.cqe = static_cast<std::uint32_t>(entries);
  attributes.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
  attributes.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
  if (auto* single = ibv_create_cq_ex(context.get(), &attributes); single != nullptr) {
    return verbs::CqHandle(ibv_cq_ex_to_cq(single));
  }
  verbs::CqHandle cq(ibv_create_cq(context.get(), static_cast<int>(entries), nullptr, nullptr, 0));
  if (!cq) throw util::system_error(fmt::format("create a CQ of {} entries on {}", entries, context.name()), errno);
  return cq;
}

}  // namespace

Routes::Routes(const RoutesOptions& where, const WorkersOptions& workers)
    : connections_(where.connections), device_(where.context.get()) {
  require_valid(workers);
  if (connections_ == 0 || connections_ > kMaxRoute + 1) {
    throw util::Error(fmt::format("{} connections, and there must be 1 to {}", connections_, kMaxRoute + 1),
                      util::ErrorKind::kUsage);
  }
  verbs::VerbsQpOptions queue{.send_wqes = workers.send_depth, .inline_bytes = 0, .behaviour = where.behaviour};
  for (std::uint32_t w = 0; w < workers.workers; ++w) {
    cqs_.push_back(make_cq(where.context, std::uint64_t{connections_} * workers.send_depth + 1));
    queue.cq = cqs_.back().get();
    for (std::uint32_t c = 0; c < connections_; ++c) {
      queues_.push_back(std::make_unique<verbs::VerbsQp>(where.context, where.pd, queue));
    }
  }
  sinks_ = std::make_unique<verbs::HostBuffer>(workers.workers * kSinkStride);
  sinks_mr_ = std::make_unique<verbs::Mr>(where.pd, *sinks_);
}

verbs::VerbsQp& Routes::queue(std::uint32_t worker, std::uint32_t connection) {
  return *queues_.at(std::size_t{worker} * connections_ + connection);
}

std::uint32_t Routes::add(const Route& route) {
  if (route.connection >= connections_) {
    throw util::Error(fmt::format("a route over connection {} of {}", route.connection, connections_),
                      util::ErrorKind::kUsage);
  }
  if (routes_.size() > kMaxRoute) {
    throw util::Error(fmt::format("there are {} routes, and a descriptor cannot name more", routes_.size()),
                      util::ErrorKind::kUsage);
  }
  routes_.push_back(route);
  return static_cast<std::uint32_t>(routes_.size() - 1);
}

RouteTable Routes::table() const {
  RouteTable table{.routes = routes_, .device = device_};
  for (std::uint32_t w = 0; w < workers(); ++w) {
    WorkerQueues queues{.cq = cqs_[w].get(), .sink = sinks_mr_->local() + w * kSinkStride};
    for (std::uint32_t c = 0; c < connections_; ++c) queues.qps.push_back(queues_[w * connections_ + c]->get());
    table.workers.push_back(std::move(queues));
  }
  return table;
}

void require_queues(const WorkersOptions& options, const RouteTable& routes) {
  const auto refuse = [](const std::string& sentence) { throw util::Error(sentence, util::ErrorKind::kUsage); };
  if (routes.workers.size() != options.workers) {
    refuse(fmt::format("queue pairs of {} workers for {} workers", routes.workers.size(), options.workers));
  }
  const auto connections = routes.workers.front().qps.size();
  if (connections == 0) refuse("a worker has no queue pair");
  for (const auto& worker : routes.workers) {
    if (worker.cq == nullptr) refuse("a worker has no CQ");
    if (worker.qps.size() != connections) refuse("one worker has more connections than another");
  }
  for (const auto& route : routes.routes) {
    if (route.connection >= connections) {
      refuse(fmt::format("a route over connection {} of {}", route.connection, connections));
    }
  }
}

void connect(Routes& a, Routes& b) {
  if (a.workers() != b.workers() || a.connections() != b.connections()) {
    throw util::Error(fmt::format("{} workers with {} connections cannot meet {} with {}", a.workers(), a.connections(),
                                  b.workers(), b.connections()),
                      util::ErrorKind::kUsage);
  }
  for (std::uint32_t w = 0; w < a.workers(); ++w) {
    for (std::uint32_t c = 0; c < a.connections(); ++c) verbs::connect(a.queue(w, c), b.queue(w, c));
  }
}

}  // namespace marrow::proxy
