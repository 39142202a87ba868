// SPDX-License-Identifier: Apache-2.0
// The work request of verbs_poster.h is built once: what is timed is ibv_post_send, not the filling of its argument.
#include "experiments/common/verbs_poster.h"

#include <cstring>

namespace marrow::experiments {

VerbsPoster::VerbsPoster(const verbs::VerbsQp& qp, const Route& route, gda::Payload payload)
    : qp_(qp.get()), cq_(qp.cq()) {
  source_ = {.addr = route.from.addr, .length = route.bytes, .lkey = route.from.lkey};
  request_.sg_list = &source_;
  request_.num_sge = 1;
  request_.opcode = IBV_WR_RDMA_WRITE;
  request_.send_flags = IBV_SEND_SIGNALED;
  if (payload == gda::Payload::kInline) request_.send_flags |= IBV_SEND_INLINE;
  request_.wr.rdma = {.remote_addr = route.to.addr, .rkey = route.to.rkey};
}

bool VerbsPoster::wait() noexcept {
  constexpr std::uint64_t kLimitNs = 10'000'000'000;
  if (post_error_ != 0) return false;
  gda::SpinLimit limit(kLimitNs);
  do {
    polled_ = ibv_poll_cq(cq_, 1, &completion_);
  } while (polled_ == 0 && !limit.expired());
  return polled_ == 1 && completion_.status == IBV_WC_SUCCESS;
}

std::string VerbsPoster::failure() const {
  if (post_error_ != 0) return std::string("ibv_post_send: ") + std::strerror(post_error_);
  if (polled_ == 0) return "no completion within 10 s";
  if (polled_ < 0) return "ibv_poll_cq failed";
  return ibv_wc_status_str(completion_.status);
}

}  // namespace marrow::experiments
