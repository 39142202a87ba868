// SPDX-License-Identifier: Apache-2.0
// The ordinary way, for comparison and for two-sided traffic: an RC QP and its CQ made and driven through libibverbs.
#pragma once

#include <cstdint>

#include "verbs/address.h"
#include "verbs/context.h"
#include "verbs/handle.h"

namespace marrow::verbs {

struct VerbsQpOptions {
  std::uint32_t send_wqes = 128;
  std::uint32_t recv_wqes = 1;
  std::uint32_t sges = 1;
  std::uint32_t inline_bytes = 28;
  Behaviour behaviour;
  ibv_cq* cq = nullptr;  // borrowed, and deep enough for all its queues; none: one of its own
};

class VerbsQp {
 public:
  using Options = VerbsQpOptions;

  /// Throws util::Error when the device refuses.
  VerbsQp(const Context& context, const Pd& pd, const Options& options);

  [[nodiscard]] ibv_qp* get() const { return qp_.get(); }
  [[nodiscard]] ibv_cq* cq() const { return qp_->send_cq; }
  [[nodiscard]] std::uint32_t qpn() const { return qp_->qp_num; }
  [[nodiscard]] const Address& address() const { return address_; }
  void connect(const Address& peer);

 private:
  void to_init();
  void to_rtr(const Address& peer);
  void to_rts();

  const Context* context_;
  Options options_;
  CqHandle cq_;  // none when the CQ is borrowed
  QpHandle qp_;
  Address address_;
  std::uint8_t log_reads_ = 0;
};

}  // namespace marrow::verbs
