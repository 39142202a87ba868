// SPDX-License-Identifier: Apache-2.0
// See mailboxes.h.
#include "verbs/mailboxes.h"

namespace marrow::verbs {
namespace {

constexpr std::uint32_t kMigrated = 3;        // pm_state: no automatic path migration
constexpr std::uint32_t kLogMessageMax = 30;  // the most for an RC QP
constexpr std::uint32_t kAtomicsUpTo8Bytes = 3;

ModifyMailbox transition(prm::Command command, std::uint32_t qpn) {
  ModifyMailbox box(command);
  box.whole().set(prm::modify_qp::qpn, qpn);
  return box;
}

void set_infiniband_path(Section path, const Connection& c) {
  path.set(prm::ads::rlid, c.remote.lid).set(prm::ads::sl, c.behaviour.service_level);
  if (!c.routed) return;
  path.set(prm::ads::grh, 1u)
      .set(prm::ads::src_addr_index, c.gid_index)
      .set(prm::ads::hop_limit, c.behaviour.hop_limit)
      .set(prm::ads::tclass, c.behaviour.traffic_class)
      .copy(prm::ads::kRemoteGid, c.remote.gid);
}

/// The grh bit stays 0: on Ethernet there is always an IP header, and the bit means something else.
void set_roce_path(Section path, const Connection& c) {
  path.set(prm::ads::src_addr_index, c.gid_index)
      .set(prm::ads::hop_limit, c.behaviour.hop_limit)
      .set(prm::ads::udp_sport, c.udp_sport)
      .set(prm::ads::dscp, c.behaviour.traffic_class >> 2)
      .set(prm::ads::eth_prio, c.behaviour.service_level & 7)
      .copy(prm::ads::kRemoteGid, c.remote.gid)
      .copy(prm::ads::kRemoteMac, c.remote_mac);
}

NumberMailbox numbered(prm::Command command, std::uint32_t qpn) {
  NumberMailbox box(command);
  box.whole().set(prm::query_qp::qpn, qpn);
  return box;
}

}  // namespace

Mailbox<prm::create_cq::kInBytes> create_cq(const CqParameters& cq) {
  Mailbox<prm::create_cq::kInBytes> box(prm::Command::kCreateCq);
  box.at(prm::create_cq::kContext)
      .set(prm::cqc::collapsed, cq.collapsed)
      .set(prm::cqc::overrun_ignore, cq.overrun_ignore)
      .set(prm::cqc::log_size, cq.log_cqes)
      .set(prm::cqc::uar_page, cq.uar_page)
      .set(prm::cqc::eqn, cq.eqn)
      .set(prm::cqc::dbr_umem_valid, 1u)
      .set(prm::cqc::dbr_umem_id, cq.dbrec_umem_id)
      .set(prm::cqc::dbr_addr, cq.dbrec_offset);
  box.whole().set(prm::create_cq::umem_id, cq.umem_id).set(prm::create_cq::umem_valid, 1u);
  return box;
}

Mailbox<prm::create_qp::kInBytes> create_qp(const QpParameters& qp) {
  Mailbox<prm::create_qp::kInBytes> box(prm::Command::kCreateQp);
  box.at(prm::create_qp::kContext)
      .set(prm::qpc::service_type, qp.service)
      .set(prm::qpc::pm_state, kMigrated)
      .set(prm::qpc::pd, qp.pdn)
      .set(prm::qpc::log_sq_size, qp.log_sq_wqebbs)
      .set(prm::qpc::timestamp_format, qp.timestamp_format)
      .set(prm::qpc::uar_page, qp.uar_page)
      .set(prm::qpc::user_index, qp.user_index)
      .set(prm::qpc::cqn_snd, qp.cqn)
      .set(prm::qpc::rq_type, qp.rq.any ? prm::RqType::kRegular : prm::RqType::kZeroSize)
      .set(prm::qpc::log_rq_size, qp.rq.log_wqes)
      .set(prm::qpc::cqn_rcv, qp.rq.cqn)
      .set(prm::qpc::dbr_umem_valid, 1u)
      .set(prm::qpc::dbr_umem_id, qp.dbrec_umem_id)
      .set(prm::qpc::dbr_addr, qp.dbrec_offset);
  box.whole().set(prm::create_qp::wq_umem_id, qp.umem_id).set(prm::create_qp::wq_umem_valid, 1u);
  return box;
}

ModifyMailbox rst2init(std::uint32_t qpn, std::uint8_t port, Access access) {
  ModifyMailbox box = transition(prm::Command::kRst2Init, qpn);
  const Section context = box.at(prm::modify_qp::kContext);
  Section(context)
      .set(prm::qpc::pm_state, kMigrated)
      .set(prm::qpc::rwe, 1u)
      .set(prm::qpc::rre, 1u)
      .set(prm::qpc::rae, access.atomics)
      .set(prm::qpc::atomic_mode, access.atomics ? kAtomicsUpTo8Bytes : 0);
  context.at(prm::qpc::kPrimaryPath).set(prm::ads::port, port);
  return box;
}

ModifyMailbox init2rtr(const Connection& c) {
  ModifyMailbox box = transition(prm::Command::kInit2Rtr, c.local.qpn);
  Section context = box.at(prm::modify_qp::kContext);
  context.set(prm::qpc::mtu, c.mtu())
      .set(prm::qpc::log_msg_max, kLogMessageMax)
      .set(prm::qpc::remote_qpn, c.remote.qpn)
      .set(prm::qpc::next_rcv_psn, c.remote.psn)
      .set(prm::qpc::min_rnr_nak, c.behaviour.min_rnr_nak)
      .set(prm::qpc::log_rra_max, c.log_reads());
  Section path = context.at(prm::qpc::kPrimaryPath);
  path.set(prm::ads::port, c.port);
  if (c.local.link == LinkLayer::kEthernet) {
    set_roce_path(path, c);
  } else {
    set_infiniband_path(path, c);
  }
  return box;
}

ModifyMailbox rtr2rts(const Connection& c) {
  ModifyMailbox box = transition(prm::Command::kRtr2Rts, c.local.qpn);
  Section context = box.at(prm::modify_qp::kContext);
  // log_ack_req_freq stays 0: every packet asks for its ACK.
  context.set(prm::qpc::next_send_psn, c.local.psn)
      .set(prm::qpc::log_sra_max, c.log_reads())
      .set(prm::qpc::retry_count, c.behaviour.retry_count)
      .set(prm::qpc::rnr_retry, c.behaviour.rnr_retry);
  context.at(prm::qpc::kPrimaryPath).set(prm::ads::ack_timeout, c.behaviour.ack_timeout);
  return box;
}

ModifyMailbox dci_rst2init(const DciParameters& dci) {
  ModifyMailbox box = transition(prm::Command::kRst2Init, dci.qpn);
  const Section context = box.at(prm::modify_qp::kContext);
  Section(context).set(prm::qpc::pm_state, kMigrated).set(prm::qpc::dc_access_key, dci.key);
  context.at(prm::qpc::kPrimaryPath).set(prm::ads::port, dci.port);
  return box;
}

ModifyMailbox dci_init2rtr(const DciParameters& dci) {
  ModifyMailbox box = transition(prm::Command::kInit2Rtr, dci.qpn);
  Section context = box.at(prm::modify_qp::kContext);
  context.set(prm::qpc::mtu, dci.mtu).set(prm::qpc::log_msg_max, kLogMessageMax);
  Section path = context.at(prm::qpc::kPrimaryPath);
  path.set(prm::ads::port, dci.port);
  if (dci.link == LinkLayer::kEthernet) {
    path.set(prm::ads::tclass, dci.behaviour.traffic_class)
        .set(prm::ads::dscp, dci.behaviour.traffic_class >> 2)
        .set(prm::ads::eth_prio, dci.behaviour.service_level & 7);
  } else {
    path.set(prm::ads::sl, dci.behaviour.service_level);
  }
  return box;
}

ModifyMailbox dci_rtr2rts(const DciParameters& dci) {
  Connection connection;
  connection.local = {.qpn = dci.qpn, .psn = dci.psn, .log_reads = dci.log_reads};
  connection.remote = connection.local;
  connection.behaviour = dci.behaviour;
  return rtr2rts(connection);
}

Mailbox<prm::create_dct::kInBytes> create_dct(const DctParameters& dct) {
  Mailbox<prm::create_dct::kInBytes> box(prm::Command::kCreateDct);
  Section context = box.at(prm::create_dct::kContext);
  context.set(prm::dctc::user_index, dct.user_index)
      .set(prm::dctc::cqn, dct.cqn)
      .set(prm::dctc::atomic_mode, dct.access.atomics ? kAtomicsUpTo8Bytes : 0)
      .set(prm::dctc::rre, 1u)
      .set(prm::dctc::rwe, 1u)
      .set(prm::dctc::rae, dct.access.atomics)
      .set(prm::dctc::min_rnr_nak, dct.behaviour.min_rnr_nak)
      .set(prm::dctc::srqn, dct.srqn)
      .set(prm::dctc::pd, dct.pdn)
      .set(prm::dctc::tclass, dct.behaviour.traffic_class)
      .set(prm::dctc::dc_access_key, dct.key)
      .set(prm::dctc::mtu, dct.mtu)
      .set(prm::dctc::port, dct.port)
      .set(prm::dctc::my_addr_index, dct.gid_index)
      .set(prm::dctc::hop_limit, dct.behaviour.hop_limit);
  if (dct.link == LinkLayer::kEthernet) {
    context.set(prm::dctc::eth_prio, dct.behaviour.service_level & 7)
        .set(prm::dctc::dscp, dct.behaviour.traffic_class >> 2);
  }
  return box;
}

NumberMailbox query_qp(std::uint32_t qpn) {
  return numbered(prm::Command::kQueryQp, qpn);
}

NumberMailbox qp_to_error(std::uint32_t qpn) {
  return numbered(prm::Command::kQp2Err, qpn);
}

}  // namespace marrow::verbs
