// SPDX-License-Identifier: Apache-2.0
// See verbs_qp.h. Facts: which attributes each transition takes [abi: ibv_modify_qp(3)].
#include "verbs/verbs_qp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "util/error.h"
#include "verbs/path.h"

namespace marrow::verbs {
namespace {

CqHandle make_cq(const Context& context, const VerbsQpOptions& options) {
  const int entries = static_cast<int>(options.send_wqes + options.recv_wqes);
  CqHandle cq(ibv_create_cq(context.get(), entries, nullptr, nullptr, 0));
  if (!cq) throw util::system_error(fmt::format("create a CQ of {} entries on {}", entries, context.name()), errno);
  return cq;
}

QpHandle make_qp(const Context& context, const Pd& pd, ibv_cq* cq, const VerbsQpOptions& options) {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = cq;
  attributes.recv_cq = cq;
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap = {.max_send_wr = options.send_wqes,
                    .max_recv_wr = options.recv_wqes,
                    .max_send_sge = options.sges,
                    .max_recv_sge = options.sges,
                    .max_inline_data = options.inline_bytes};
  QpHandle qp(ibv_create_qp(pd.get(), &attributes));
  if (!qp) throw util::system_error(fmt::format("create a QP on {}", context.name()), errno);
  return qp;
}

void modify(ibv_qp* qp, ibv_qp_attr& attributes, int mask) {
  const int error = ibv_modify_qp(qp, &attributes, mask);
  if (error == 0) return;
  throw util::system_error(fmt::format("move QP {:#x} to state {}", qp->qp_num, static_cast<int>(attributes.qp_state)),
                           error);
}

}  // namespace

VerbsQp::VerbsQp(const Context& context, const Pd& pd, const Options& options)
    : context_(&context),
      options_(options),
      cq_(options.cq != nullptr ? nullptr : make_cq(context, options)),
      qp_(make_qp(context, pd, options.cq != nullptr ? options.cq : cq_.get(), options)),
      address_(make_address(context, qp_->qp_num)) {}

void VerbsQp::connect(const Address& peer) {
  if (peer.link != address_.link) {
    throw util::Error(fmt::format("{} and its peer are on different kinds of link", context_->name()));
  }
  log_reads_ = std::min(address_.log_reads, peer.log_reads);
  to_init();
  to_rtr(peer);
  to_rts();
}

void VerbsQp::to_init() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = context_->port().number;
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  modify(qp_.get(), attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

void VerbsQp::to_rtr(const Address& peer) {
  const Behaviour& behaviour = options_.behaviour;
  const bool same_subnet = std::equal(peer.gid.begin(), peer.gid.begin() + 8, address_.gid.begin());
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = static_cast<ibv_mtu>(std::min(address_.mtu, peer.mtu));
  attributes.dest_qp_num = peer.qpn;
  attributes.rq_psn = peer.psn;
  attributes.max_dest_rd_atomic = static_cast<std::uint8_t>(1u << log_reads_);
  attributes.min_rnr_timer = behaviour.min_rnr_nak;
  attributes.ah_attr.port_num = context_->port().number;
  attributes.ah_attr.dlid = peer.lid;
  attributes.ah_attr.sl = behaviour.service_level;
  attributes.ah_attr.is_global = address_.link == LinkLayer::kEthernet || !same_subnet;
  if (attributes.ah_attr.is_global != 0) {
    attributes.ah_attr.grh.sgid_index = context_->port().gid_index;
    attributes.ah_attr.grh.hop_limit = behaviour.hop_limit;
    attributes.ah_attr.grh.traffic_class = behaviour.traffic_class;
    std::memcpy(attributes.ah_attr.grh.dgid.raw, peer.gid.data(), peer.gid.size());
  }
  modify(qp_.get(), attributes,
         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
             IBV_QP_MIN_RNR_TIMER);
}

void VerbsQp::to_rts() {
  const Behaviour& behaviour = options_.behaviour;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = address_.psn;
  attributes.timeout = behaviour.ack_timeout;
  attributes.retry_cnt = behaviour.retry_count;
  attributes.rnr_retry = behaviour.rnr_retry;
  attributes.max_rd_atomic = static_cast<std::uint8_t>(1u << log_reads_);
  modify(qp_.get(), attributes,
         IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

}  // namespace marrow::verbs
