// SPDX-License-Identifier: Apache-2.0
// CREATE_QP, DESTROY_QP, QUERY_QP.
// Facts: QP context fields [prm]; the RQ stands before the SQ in the same umem [dv].
#include "cx7/fw/command.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/path.h"
#include "cx7/fw/queue_memory.h"
#include "util/log.h"

namespace marrow::cx7::fw {
namespace {

namespace prm = wire::prm;
namespace qpc = wire::prm::qpc;
using prm::get;
using prm::set;

constexpr std::uint32_t kPmMigrated = 3;
constexpr std::uint32_t kTimestampRealTime = 2;

// Sizes before addresses: what the rings take, from the context's logarithms.
struct RingSizes {
  std::uint32_t rq_entries = 0;
  std::uint32_t rq_stride = 0;
  std::uint32_t sq_wqebbs = 0;
  [[nodiscard]] std::uint64_t rq_bytes() const { return std::uint64_t{rq_entries} * rq_stride; }
  [[nodiscard]] std::uint64_t bytes() const { return rq_bytes() + std::uint64_t{sq_wqebbs} * wire::kWqebbBytes; }
};

RingSizes sizes_of(const std::byte* context) {
  RingSizes sizes;
  if (static_cast<prm::RqType>(get(context, qpc::rq_type)) == prm::RqType::kRegular) {
    sizes.rq_entries = 1u << get(context, qpc::log_rq_size);
    sizes.rq_stride = 16u << get(context, qpc::log_rq_stride);
  }
  if (get(context, qpc::no_sq) == 0) sizes.sq_wqebbs = 1u << get(context, qpc::log_sq_size);
  return sizes;
}

Reply check_kind(const std::byte* context) {
  const auto service = static_cast<ServiceType>(get(context, qpc::service_type));
  if (service != ServiceType::kRc && service != ServiceType::kDci) {
    return refuse(CommandStatus::kBadParameter, "service type not modelled, only RC and DCI are");
  }
  const auto rq_type = static_cast<prm::RqType>(get(context, qpc::rq_type));
  if (service == ServiceType::kDci && (rq_type == prm::RqType::kRegular || get(context, qpc::no_sq) != 0)) {
    return refuse(CommandStatus::kBadParameter, "a DCI has a send queue and no receive queue of its own");
  }
  if (rq_type != prm::RqType::kRegular && rq_type != prm::RqType::kShared && rq_type != prm::RqType::kZeroSize) {
    return refuse(CommandStatus::kBadParameter, "rq_type not modelled, only regular, shared and zero-size are");
  }
  const auto pm_state = get(context, qpc::pm_state);
  if (pm_state != 0 && pm_state != kPmMigrated) {
    return refuse(CommandStatus::kBadParameter, "pm_state: path migration is not modelled, only migrated (3) is");
  }
  if (get(context, qpc::timestamp_format) >= kTimestampRealTime) {
    return refuse(CommandStatus::kBadParameter, "ts_format: no real-time timestamps");
  }
  const auto log_stride = get(context, qpc::log_rq_stride);
  if (rq_type == prm::RqType::kRegular && (16u << log_stride) > kMaxRecvWqeBytes) {
    return refuse(CommandStatus::kExceedLimit, "log_rq_stride too large");
  }
  return {};
}

Reply check_resources(const Client& client, const std::byte* context) {
  if (!client.pds.contains(get(context, qpc::pd))) {
    return refuse(CommandStatus::kBadResource, "no such PD in this context");
  }
  if (!client.uars.contains(get(context, qpc::uar_page))) {
    return refuse(CommandStatus::kBadResource, "no such UAR page in this context");
  }
  if (get(context, qpc::no_sq) == 0 && client.find_cq(get(context, qpc::cqn_snd)) == nullptr) {
    return refuse(CommandStatus::kBadResource, "cqn_snd: no such CQ in this context");
  }
  const auto cqn_rcv = get(context, qpc::cqn_rcv);
  const auto rq_type = static_cast<prm::RqType>(get(context, qpc::rq_type));
  const auto srqn = get(context, qpc::srqn);
  const bool shared = rq_type == prm::RqType::kShared;
  if (shared != (srqn != 0) || (shared && !client.srqs.contains(srqn))) {
    return refuse(CommandStatus::kBadResource, "srqn_rmpn: no such SRQ in this context, or none is named");
  }
  const bool needs_recv = rq_type != prm::RqType::kZeroSize;
  if ((needs_recv || cqn_rcv != 0) && client.find_cq(cqn_rcv) == nullptr) {
    return refuse(CommandStatus::kBadResource, "cqn_rcv: no such CQ in this context");
  }
  return {};
}

QueuePlace place_of(const std::byte* in, std::uint64_t bytes) {
  const std::byte* const context = in + prm::create_qp::kContext;
  return {.umem_valid = get(in, prm::create_qp::wq_umem_valid) == 1,
          .dbrec_umem_valid = get(context, qpc::dbr_umem_valid) == 1,
          .umems = {get(in, prm::create_qp::wq_umem_id), get(context, qpc::dbr_umem_id)},
          .offset = get(in, prm::create_qp::wq_umem_offset),
          .bytes = bytes,
          .dbrec_offset = get(context, qpc::dbr_addr)};
}

void write_static_part(const Qp& qp, std::byte* context) {
  const auto& config = qp.config;
  set(context, qpc::state, static_cast<std::uint32_t>(qp.state));
  set(context, qpc::service_type, static_cast<std::uint32_t>(config.service));
  set(context, qpc::pm_state, kPmMigrated);
  set(context, qpc::pd, config.pdn);
  set(context, qpc::uar_page, config.uar_page);
  set(context, qpc::user_index, config.user_index);
  set(context, qpc::no_sq, config.sq.wqebbs == 0 ? 1 : 0);
  if (config.sq.wqebbs != 0) set(context, qpc::log_sq_size, log2_of(config.sq.wqebbs));
  if (config.send_cq != nullptr) set(context, qpc::cqn_snd, config.send_cq->cqn);
  if (config.recv_cq != nullptr) set(context, qpc::cqn_rcv, config.recv_cq->cqn);
  const bool has_rq = config.rq.entries != 0;
  const auto type = has_rq                  ? prm::RqType::kRegular
                    : config.srq != nullptr ? prm::RqType::kShared
                                            : prm::RqType::kZeroSize;
  set(context, qpc::rq_type, static_cast<std::uint32_t>(type));
  if (config.srq != nullptr) set(context, qpc::srqn, config.srq->srqn);
  if (!has_rq) return;
  set(context, qpc::log_rq_size, log2_of(config.rq.entries));
  set(context, qpc::log_rq_stride, log2_of(config.rq.stride_bytes / 16));
}

void write_attributes(const Qp& qp, std::byte* context) {
  const auto& a = qp.attributes;
  if (a.mtu_bytes != 0) set(context, qpc::mtu, log2_of(a.mtu_bytes / 128));
  set(context, qpc::remote_qpn, a.remote_qpn);
  set(context, qpc::next_send_psn, qp.state == QpState::kRts ? qp.requester.next_psn : a.send_psn);
  set(context, qpc::next_rcv_psn, qp.state >= QpState::kRtr ? qp.responder.expected_psn : a.recv_psn);
  set(context, qpc::rre, a.access & kRemoteRead ? 1 : 0);
  set(context, qpc::rwe, a.access & kRemoteWrite ? 1 : 0);
  set(context, qpc::rae, a.access & kRemoteAtomic ? 1 : 0);
  set(context, qpc::min_rnr_nak, a.min_rnr_nak);
  set(context, qpc::retry_count, a.retry_count);
  set(context, qpc::rnr_retry, a.rnr_retry);
  set(context, qpc::log_ack_req_freq, a.log_ack_req_freq);
  if (a.initiator_reads != 0) set(context, qpc::log_sra_max, log2_of(a.initiator_reads));
  if (a.responder_reads != 0) set(context, qpc::log_rra_max, log2_of(a.responder_reads));
  set(context + qpc::kPrimaryPath, prm::ads::ack_timeout, a.ack_timeout);
}

}  // namespace

Reply create_qp(Client& client, const std::byte* in, std::byte* out) {
  const std::byte* const context = in + prm::create_qp::kContext;
  if (const auto reply = check_kind(context); !reply.ok()) return reply;
  if (const auto reply = check_resources(client, context); !reply.ok()) return reply;
  const auto sizes = sizes_of(context);
  const auto place = place_of(in, sizes.bytes());
  QueueAddresses at;
  if (const auto reply = locate(client, place, at); !reply.ok()) return reply;
  const auto qpn = client.device.qps.next_number();
  if (qpn == 0) return refuse(CommandStatus::kExceedLimit, "no QP left");

  QpConfig config;
  config.qpn = qpn;
  config.service = static_cast<ServiceType>(get(context, qpc::service_type));
  config.routing = routing();
  config.pdn = get(context, qpc::pd);
  config.user_index = get(context, qpc::user_index);
  config.uar_page = get(context, qpc::uar_page);
  config.rq = {at.ring, sizes.rq_entries, sizes.rq_stride};
  config.sq = {at.ring + sizes.rq_bytes(), sizes.sq_wqebbs};
  config.dbrec = reinterpret_cast<wire::QpDbrec*>(at.dbrec);
  config.send_cq = client.find_cq(get(context, qpc::cqn_snd));
  config.recv_cq = client.find_cq(get(context, qpc::cqn_rcv));
  config.srq = client.device.srqs.find(get(context, qpc::srqn));
  Qp& qp = client.engine.add_qp(client.device, config);
  if (const auto why = client.engine.place_qp(client.device, qp); !why.empty()) {
    util::log::warn("CREATE_QP: {}", why);
    client.engine.remove_qp(client.device, qp);
    return refuse(CommandStatus::kBadResource, "no engine can serve this queue pair");
  }
  client.qps.emplace(qpn, place.umems);
  client.use(place.umems, +1);
  set(out, prm::out::object, qpn);
  return {};
}

Reply destroy_qp(Client& client, const std::byte* in, std::byte*) {
  Qp* const qp = client.find_qp(get(in, prm::destroy::object));
  if (qp == nullptr) return refuse(CommandStatus::kBadResource, "no such QP in this context");
  const auto qpn = qp->config.qpn;
  client.use(client.qps.at(qpn), -1);
  client.qps.erase(qpn);
  client.engine.remove_qp(client.device, *qp);
  return {};
}

Reply query_qp(Client& client, const std::byte* in, std::byte* out) {
  Qp* const qp = client.find_qp(get(in, prm::query_qp::qpn));
  if (qp == nullptr) return refuse(CommandStatus::kBadResource, "no such QP in this context");
  client.engine.refresh(*qp);
  std::byte* const context = out + prm::query_qp::kContext;
  write_static_part(*qp, context);
  write_attributes(*qp, context);
  set(context, qpc::hw_sq_wqebb_counter, qp->requester.next & 0xffff);
  set(context, qpc::sw_sq_wqebb_counter, qp->requester.posted & 0xffff);
  return {};
}

}  // namespace marrow::cx7::fw
