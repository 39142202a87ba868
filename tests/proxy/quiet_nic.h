// SPDX-License-Identifier: Apache-2.0
// A queue pair and a CQ that move nothing: each post is complete at once and costs a few nanoseconds, so that what is
// left is the worker's own part. One thread.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "proxy/routes.h"

namespace marrow::proxy::testing {

struct QuietNic {
  static constexpr std::size_t kEntries = 1024;
  ibv_context context{};
  ibv_qp qp{};
  ibv_cq cq{};
  std::uint64_t cqes[kEntries] = {};
  std::uint64_t head = 0, tail = 0;
  RouteTable table;

  QuietNic() {
    context.ops.post_send = [](ibv_qp* raw, ibv_send_wr* wr, ibv_send_wr**) {
      auto& nic = *static_cast<QuietNic*>(raw->qp_context);
      for (; wr != nullptr; wr = wr->next) {
        if ((wr->send_flags & IBV_SEND_SIGNALED) != 0) nic.cqes[nic.head++ % kEntries] = wr->wr_id;
      }
      return 0;
    };
    context.ops.poll_cq = [](ibv_cq* raw, int most, ibv_wc* to) {
      auto& nic = *static_cast<QuietNic*>(raw->cq_context);
      int n = 0;
      for (; n < most && nic.tail != nic.head; ++n) {
        to[n].wr_id = nic.cqes[nic.tail++ % kEntries];
        to[n].status = IBV_WC_SUCCESS;
      }
      return n;
    };
    qp.context = cq.context = &context;
    qp.qp_context = cq.cq_context = this;
    table.workers.push_back({.cq = &cq, .qps = {&qp}, .sink = {}});
    table.routes.push_back({.from_bytes = 1 << 20, .to_bytes = 1 << 20, .signal_words = 8});
  }
};

}  // namespace marrow::proxy::testing
