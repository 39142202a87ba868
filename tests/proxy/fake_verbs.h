// SPDX-License-Identifier: Apache-2.0
// Queue pairs and CQs without a device: what is posted is done at once by memcpy, or when the test lets it be. It obeys
// the rules that workers rely on: in order, a CQE for what asked for one, everything flushed behind a failure.
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "proxy/routes.h"

namespace marrow::proxy::testing {

struct FakeCq : ibv_cq {
  std::deque<ibv_wc> entries;
  bool broken = false;
};

struct FakeQp : ibv_qp {
  FakeCq* its_cq = nullptr;
  std::deque<ibv_send_wr> waiting;  // posted, not done
  std::deque<ibv_sge> pieces;
  std::vector<std::uint32_t> chains;  // work requests of each post
  bool hold = false;                  // nothing is done until work()
  bool failed = false;
  std::uint64_t done = 0;         // work requests
  std::uint64_t fail_at = ~0ull;  // this one fails, as `failure` says
  ibv_wc_status failure = IBV_WC_SUCCESS;
  std::uint64_t accept = ~0ull;  // so many work requests may still be posted

  void work(std::uint64_t most = ~0ull) {
    for (; most > 0 && !waiting.empty(); --most) {
      do_one(waiting.front(), pieces.front());
      waiting.pop_front();
      pieces.pop_front();
    }
  }

 private:
  void do_one(const ibv_send_wr& wr, const ibv_sge& piece) {
    ibv_wc cqe{};
    cqe.wr_id = wr.wr_id;
    if (failed) {
      cqe.status = IBV_WC_WR_FLUSH_ERR;
    } else if (done++ == fail_at) {
      cqe.status = failure;
      failed = true;
    } else if (wr.opcode == IBV_WR_RDMA_WRITE) {
      std::memcpy(reinterpret_cast<void*>(wr.wr.rdma.remote_addr), reinterpret_cast<void*>(piece.addr), piece.length);
    } else {
      *reinterpret_cast<std::uint64_t*>(wr.wr.atomic.remote_addr) += wr.wr.atomic.compare_add;
    }
    if (failed || (wr.send_flags & IBV_SEND_SIGNALED) != 0) its_cq->entries.push_back(cqe);
  }
};

class FakeVerbs {
 public:
  explicit FakeVerbs(std::uint32_t workers = 1, std::uint32_t connections = 1) {
    context_.ops.post_send = &post_send;
    context_.ops.poll_cq = &poll_cq;
    for (std::uint32_t w = 0; w < workers; ++w) {
      cqs_.push_back(std::make_unique<FakeCq>());
      cqs_.back()->context = &context_;
      table.workers.push_back({.cq = cqs_.back().get(), .qps = {}, .sink = {.addr = 1, .lkey = 9}});
      for (std::uint32_t c = 0; c < connections; ++c) {
        qps_.push_back(std::make_unique<FakeQp>());
        qps_.back()->context = &context_;
        qps_.back()->its_cq = cqs_.back().get();
        table.workers.back().qps.push_back(qps_.back().get());
      }
    }
  }
  /// One route for each connection, over all of two windows.
  void add_routes(std::vector<std::byte>& from, std::vector<std::byte>& to, std::vector<std::uint64_t>& signals) {
    for (std::uint32_t c = 0; c < table.workers.front().qps.size(); ++c) {
      table.routes.push_back({.from = {address(from.data()), 1},
                              .from_bytes = from.size(),
                              .to = {address(to.data()), 2},
                              .to_bytes = to.size(),
                              .signals = {address(signals.data()), 3},
                              .signal_words = static_cast<std::uint32_t>(signals.size()),
                              .connection = c});
    }
  }
  [[nodiscard]] FakeQp& qp(std::uint32_t connection, std::uint32_t worker = 0) {
    return *qps_.at(worker * table.workers.front().qps.size() + connection);
  }
  [[nodiscard]] FakeCq& cq(std::uint32_t worker = 0) { return *cqs_.at(worker); }

  RouteTable table;

 private:
  static std::uint64_t address(const void* at) { return reinterpret_cast<std::uint64_t>(at); }

  static int post_send(ibv_qp* raw, ibv_send_wr* wr, ibv_send_wr** refused) {
    auto& qp = *static_cast<FakeQp*>(raw);
    qp.chains.push_back(0);
    for (; wr != nullptr; wr = wr->next) {
      if (qp.accept == 0) break;
      --qp.accept;
      ++qp.chains.back();
      qp.waiting.push_back(*wr);
      qp.pieces.push_back(*wr->sg_list);
    }
    if (!qp.hold) qp.work();
    *refused = wr;
    return wr == nullptr ? 0 : ENOMEM;
  }
  static int poll_cq(ibv_cq* raw, int most, ibv_wc* to) {
    auto& cq = *static_cast<FakeCq*>(raw);
    if (cq.broken) return -1;
    int n = 0;
    for (; n < most && !cq.entries.empty(); ++n) {
      to[n] = cq.entries.front();
      cq.entries.pop_front();
    }
    return n;
  }

  ibv_context context_{};
  std::vector<std::unique_ptr<FakeCq>> cqs_;
  std::vector<std::unique_ptr<FakeQp>> qps_;
};

}  // namespace marrow::proxy::testing
