// SPDX-License-Identifier: Apache-2.0
// See poster.h. Everything below the constructor is on a message's path.
#include "proxy/poster.h"

#include <algorithm>

namespace marrow::proxy {
namespace {

using gda::Status;

constexpr std::size_t kPollBatch = 32;
constexpr int kPositionBits = 48;
constexpr std::uint64_t kPositionMask = (1ull << kPositionBits) - 1;

/// The syndrome that libmlx5 made the completion status of [dv].
Status status_of(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return Status::kOk;
    case IBV_WC_LOC_LEN_ERR:
      return Status::kLocalLength;
    case IBV_WC_LOC_QP_OP_ERR:
      return Status::kLocalQpOperation;
    case IBV_WC_LOC_PROT_ERR:
      return Status::kLocalProtection;
    case IBV_WC_WR_FLUSH_ERR:
      return Status::kFlushed;
    case IBV_WC_MW_BIND_ERR:
      return Status::kMwBind;
    case IBV_WC_BAD_RESP_ERR:
      return Status::kBadResponse;
    case IBV_WC_LOC_ACCESS_ERR:
      return Status::kLocalAccess;
    case IBV_WC_REM_INV_REQ_ERR:
      return Status::kRemoteInvalidRequest;
    case IBV_WC_REM_ACCESS_ERR:
      return Status::kRemoteAccess;
    case IBV_WC_REM_OP_ERR:
      return Status::kRemoteOperation;
    case IBV_WC_RETRY_EXC_ERR:
      return Status::kRetryExceeded;
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return Status::kRnrRetryExceeded;
    case IBV_WC_REM_ABORT_ERR:
      return Status::kRemoteAborted;
    default:
      return Status::kUnknownError;
  }
}

bool fits(std::uint64_t offset, std::uint64_t bytes, std::uint64_t window) {
  return bytes <= window && offset <= window - bytes;
}

bool makes_sense(const Request& r, const std::vector<Route>& routes) {
  if (r.route >= routes.size()) return false;
  const Route& route = routes[r.route];
  if (r.op == Op::kPutSignal && r.signal >= route.signal_words) return false;
  return fits(r.from, r.bytes, route.from_bytes) && fits(r.to, r.bytes, route.to_bytes);
}

}  // namespace

Poster::Poster(const RouteTable& routes, std::uint32_t worker, const WorkersOptions& options, WorkerCounters& counters)
    : routes_(routes.routes),
      cqes_(kPollBatch),
      counters_(counters),
      cq_(routes.workers.at(worker).cq),
      sink_(routes.workers.at(worker).sink),
      batch_(options.batch),
      depth_(options.send_depth),
      signal_each_(options.signalled == Signalled::kEach) {
  const auto& qps = routes.workers.at(worker).qps;
  connections_.resize(qps.size() + 1);
  open_.reserve(qps.size());
  for (std::size_t i = 0; i < qps.size(); ++i) {
    auto& c = connections_[i];
    c.qp = qps[i];
    c.number = static_cast<std::uint16_t>(i);
    c.chain.resize(std::size_t{batch_} * 2);
    c.pieces.resize(c.chain.size());
    for (std::size_t k = 0; k < c.chain.size(); ++k) {
      c.chain[k].sg_list = &c.pieces[k];
      c.chain[k].num_sge = 1;
      c.chain[k].next = k + 1 < c.chain.size() ? &c.chain[k + 1] : nullptr;
      c.chain[k].send_flags = signal_each_ ? IBV_SEND_SIGNALED : 0;
    }
  }
  connections_.back().failure = Status::kBadRequest;
  connections_.back().fails_at = 0;
  connections_.back().number = static_cast<std::uint16_t>(qps.size());
}

Placed Poster::place(const Request& request, InFlight& ring) {
  if (request.op == Op::kPut || request.op == Op::kPutSignal) return place_put(request, ring);
  if (request.op == Op::kFlush) return place_flush(request, ring);
  return refuse(ring, connections_.back());
}

Placed Poster::place_put(const Request& request, InFlight& ring) {
  if (!makes_sense(request, routes_)) return refuse(ring, connections_.back());
  const Route& route = routes_[request.route];
  Connection& c = connections_[route.connection];
  if (c.failure != Status::kOk) return refuse(ring, c);
  const std::uint8_t wrs = request.op == Op::kPutSignal ? 2 : 1;
  if (c.placed + wrs - c.completed > depth_ || ring.room() == 0) return Placed::kNoRoom;
  append_write(c, route, request);
  if (wrs == 2) append_signal(c, route, request);
  ring.push({c.placed, c.number, wrs});
  if (++c.requests == batch_) {
    post(c);
  } else if (!c.open) {
    c.open = true;
    open_.push_back(c.number);
  }
  return Placed::kYes;
}

/// What has been placed so far, by whatever ring of this worker.
Placed Poster::place_flush(const Request& request, InFlight& ring) {
  const auto scope = static_cast<FlushScope>(request.signal);
  if (request.route >= routes_.size() || scope > FlushScope::kAllPeers) return refuse(ring, connections_.back());
  if (scope == FlushScope::kAllPeers) return flush_all(ring);
  if (ring.room() == 0) return Placed::kNoRoom;
  const Connection& c = connections_[routes_[request.route].connection];
  ring.push({scope == FlushScope::kRing ? 0 : c.placed, c.number});
  return Placed::kYes;
}

Placed Poster::flush_all(InFlight& ring) {
  if (ring.room() < connections_.size()) return Placed::kNoRoom;
  for (const auto& c : connections_) {
    if (c.placed != c.completed) ring.push({.position = c.placed, .connection = c.number, .ends_operation = false});
  }
  ring.push({});
  return Placed::kYes;
}

/// Waits for a position that never comes.
Placed Poster::refuse(InFlight& ring, const Connection& because) {
  if (ring.room() == 0) return Placed::kNoRoom;
  ring.push({.position = because.placed + 1, .connection = because.number, .wrs = 1});
  ring.close();
  return Placed::kRefused;
}

ibv_send_wr& Poster::append(Connection& c) {
  auto& wr = c.chain[c.wrs++];
  wr.wr_id = std::uint64_t{c.number} << kPositionBits | (c.placed & kPositionMask);
  ++c.placed;
  ++in_air_;
  return wr;
}

void Poster::append_write(Connection& c, const Route& route, const Request& request) {
  auto& wr = append(c);
  *wr.sg_list = {.addr = route.from.addr + request.from, .length = request.bytes, .lkey = route.from.lkey};
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.wr.rdma.remote_addr = route.to.addr + request.to;
  wr.wr.rdma.rkey = route.to.rkey;
}

/// Behind the payload: one queue pair is executed in order at the peer.
void Poster::append_signal(Connection& c, const Route& route, const Request& request) {
  auto& wr = append(c);
  *wr.sg_list = {.addr = sink_.addr, .length = sizeof(std::uint64_t), .lkey = sink_.lkey};
  wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  wr.wr.atomic.remote_addr = route.signals.addr + request.signal * sizeof(std::uint64_t);
  wr.wr.atomic.compare_add = 1;
  wr.wr.atomic.rkey = route.signals.rkey;
}

void Poster::post_open() {
  for (const auto number : open_) {
    auto& c = connections_[number];
    c.open = false;
    if (c.wrs != 0) post(c);
  }
  open_.clear();
}

void Poster::post(Connection& c) {
  if (c.failure == Status::kOk) {
    auto& last = c.chain[c.wrs - 1];
    auto* const next = last.next;
    last.next = nullptr;
    last.send_flags = IBV_SEND_SIGNALED;
    bump(counters_.posts);
    bump(counters_.wrs, c.wrs);
    ibv_send_wr* refused = nullptr;
    const int error = ibv_post_send(c.qp, c.chain.data(), &refused);
    last.next = next;
    last.send_flags = signal_each_ ? IBV_SEND_SIGNALED : 0;
    if (error != 0) on_post_error(c, refused);
  }
  c.wrs = 0;
  c.requests = 0;
}

/// The provider would not take it, or not all of it. What it took completes if it asks for CQEs of its own.
void Poster::on_post_error(Connection& c, const ibv_send_wr* refused) {
  const auto first = c.placed - c.wrs;
  const auto posted = signal_each_ && refused != nullptr ? static_cast<std::uint64_t>(refused - c.chain.data()) : 0;
  fail(c, first + posted, Status::kLocalQpOperation);
}

std::uint32_t Poster::poll() {
  constexpr int kMostPolls = 64;
  std::uint32_t all = 0;
  for (int i = 0; i < kMostPolls; ++i) {
    const int n = ibv_poll_cq(cq_, static_cast<int>(kPollBatch), cqes_.data());
    if (n < 0) {
      fail_all();
      break;
    }
    for (int k = 0; k < n; ++k) on_cqe(cqes_[static_cast<std::size_t>(k)]);
    all += static_cast<std::uint32_t>(n);
    if (n < static_cast<int>(kPollBatch)) break;
  }
  if (all != 0) bump(counters_.cqes, all);
  return all;
}

void Poster::on_cqe(const ibv_wc& cqe) {
  Connection& c = connections_[cqe.wr_id >> kPositionBits];
  const auto behind = (cqe.wr_id - c.completed) & kPositionMask;
  if (c.completed + behind >= c.fails_at) return;  // flushed behind a failure
  c.completed += behind;
  in_air_ -= behind;
  if (cqe.status != IBV_WC_SUCCESS) return fail(c, c.completed, status_of(cqe.status));
  ++c.completed;
  --in_air_;
}

/// From `position` on nothing completes.
void Poster::fail(Connection& c, std::uint64_t position, Status failure) {
  in_air_ -= std::min(c.placed, c.fails_at) - position;
  c.fails_at = position;
  c.failure = failure;
}

/// The CQ itself is broken: nobody will ever hear of what is under way.
void Poster::fail_all() {
  for (auto& c : connections_) {
    if (c.completed < c.fails_at && c.qp != nullptr) fail(c, c.completed, Status::kUnknownError);
  }
}

bool Poster::advance(InFlight& ring) const {
  const auto before = ring.completed();
  while (!ring.empty()) {
    const Wait& wait = ring.front();
    const Connection& c = connections_[wait.connection];
    if (c.completed < wait.position) {
      if (c.completed < c.fails_at) break;
      ring.fail(wait.position - wait.wrs <= c.fails_at ? c.failure : Status::kFlushed);
      return true;
    }
    ring.pop();
  }
  return ring.completed() != before;
}

}  // namespace marrow::proxy
