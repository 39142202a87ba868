// SPDX-License-Identifier: Apache-2.0
// The same put through libmlx5: ibv_post_send and ibv_poll_cq on an ordinary queue. The control for mini-gda's host
// lane.
#pragma once

#include <string>

#include "experiments/common/poster.h"
#include "verbs/verbs_qp.h"

namespace marrow::experiments {

class VerbsPoster {
 public:
  /// One signalled RDMA write a post, inline when `payload` says so.
  VerbsPoster(const verbs::VerbsQp& qp, const Route& route, gda::Payload payload);
  VerbsPoster(const VerbsPoster&) = delete;
  VerbsPoster& operator=(const VerbsPoster&) = delete;

  void prepare(std::uint64_t) noexcept {}
  void post() noexcept {
    ibv_send_wr* refused = nullptr;
    post_error_ = ibv_post_send(qp_, &request_, &refused);
  }
  [[nodiscard]] bool wait() noexcept;
  [[nodiscard]] std::string failure() const;

 private:
  ibv_qp* qp_;
  ibv_cq* cq_;
  ibv_sge source_{};
  ibv_send_wr request_{};
  ibv_wc completion_{};
  int post_error_ = 0;
  int polled_ = 0;
};

}  // namespace marrow::experiments
