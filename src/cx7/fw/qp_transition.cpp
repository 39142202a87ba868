// SPDX-License-Identifier: Apache-2.0
// The state machine's commands: RST2INIT, INIT2INIT, INIT2RTR, RTR2RTS, RTS2RTS, 2ERR, 2RST.
// Facts: which fields a transition takes, which only with a bit in opt_param_mask [prm, restated by the libraries].
#include <cstring>

#include "cx7/fw/command.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/path.h"
#include "cx7/hca/memory.h"

namespace marrow::cx7::fw {
namespace {

namespace prm = wire::prm;
namespace qpc = wire::prm::qpc;
namespace ads = wire::prm::ads;
using prm::get;

constexpr std::uint32_t kPmMigrated = 3;
constexpr std::uint32_t kMaxAtomicMode = 3;  // up to 8-byte operands

/// One transition under way: the mailbox and the attributes it will set.
struct Transition {
  const std::byte* context = nullptr;
  const std::byte* path = nullptr;
  std::uint32_t optional = 0;
  QpAttributes attributes;
};

std::uint32_t access_of(const std::byte* context) {
  return (get(context, qpc::rre) ? kRemoteRead : 0u) | (get(context, qpc::rwe) ? kRemoteWrite : 0u) |
         (get(context, qpc::rae) && get(context, qpc::atomic_mode) != 0 ? kRemoteAtomic : 0u);
}

Reply take_access(Transition& t) {
  if (get(t.context, qpc::atomic_mode) > kMaxAtomicMode) {
    return refuse(CommandStatus::kBadParameter, "atomic_mode: operands over 8 bytes are not modelled");
  }
  t.attributes.access = access_of(t.context);
  return {};
}

// RRE, RWE and RAE one by one, where the mask asks for them.
Reply take_optional_access(Transition& t) {
  struct Row {
    std::uint32_t bit;
    std::uint32_t access;
  };
  if (get(t.context, qpc::atomic_mode) > kMaxAtomicMode) {
    return refuse(CommandStatus::kBadParameter, "atomic_mode: operands over 8 bytes are not modelled");
  }
  const auto given = access_of(t.context);
  for (const auto& row :
       {Row{prm::opt::kRre, kRemoteRead}, Row{prm::opt::kRwe, kRemoteWrite}, Row{prm::opt::kRae, kRemoteAtomic}}) {
    if (t.optional & row.bit) t.attributes.access = (t.attributes.access & ~row.access) | (given & row.access);
  }
  if (t.optional & prm::opt::kRnrTimeout) {
    t.attributes.min_rnr_nak = static_cast<std::uint8_t>(get(t.context, qpc::min_rnr_nak));
  }
  return {};
}

Reply take_port(Transition& t) {
  if (get(t.path, ads::port) != 1)
    return refuse(CommandStatus::kBadParameter, "vhca_port_num: the device has port 1 only");
  if (get(t.path, ads::pkey_index) != 0)
    return refuse(CommandStatus::kBadIndex, "pkey_index: the table has entry 0 only");
  return {};
}

Path path_of(const std::byte* path, bool ethernet) {
  Path to;
  to.has_gid = ethernet || get(path, ads::grh) == 1;
  std::memcpy(to.gid.data(), path + ads::kRemoteGid, to.gid.size());
  to.lid = static_cast<std::uint16_t>(get(path, ads::rlid));
  to.has_mac = ethernet;
  std::memcpy(to.mac.data(), path + ads::kRemoteMac, to.mac.size());
  return to;
}

Reply check_roce_path(const std::byte* path, std::uint8_t device) {
  if (get(path, ads::grh) == 1) return refuse(CommandStatus::kBadParameter, "grh set on a RoCE port");
  const auto gids = gid_table(device);
  const auto index = get(path, ads::src_addr_index);
  if (index >= gids.size()) return refuse(CommandStatus::kBadIndex, "src_addr_index: no such GID");
  if (gids[index].type == GidType::kRoceV2 && get(path, ads::udp_sport) < kMinUdpSourcePort) {
    return refuse(CommandStatus::kBadParameter, "udp_sport below r_roce_min_src_udp_port");
  }
  return {};
}

Reply take_path(Transition& t) {
  const bool ethernet = link_layer() == LinkLayer::kEthernet;
  if (ethernet) {
    if (const auto reply = check_roce_path(t.path, t.attributes.device); !reply.ok()) return reply;
  } else if (get(t.path, ads::grh) == 1 && get(t.path, ads::src_addr_index) >= gid_table(t.attributes.device).size()) {
    return refuse(CommandStatus::kBadIndex, "src_addr_index: no such GID");
  }
  t.attributes.remote_device = destination_of(path_of(t.path, ethernet));
  return {};
}

Reply take_responder(Transition& t) {
  const auto mtu = get(t.context, qpc::mtu);
  if (mtu == 0 || mtu > active_mtu_code(t.attributes.device)) {
    return refuse(CommandStatus::kBadParameter, "mtu: 0, or more than the port's");
  }
  if (get(t.context, qpc::log_msg_max) > kLogMaxMessage)
    return refuse(CommandStatus::kExceedLimit, "log_msg_max too large");
  const auto log_reads = get(t.context, qpc::log_rra_max);
  if (log_reads > kLogMaxReads) return refuse(CommandStatus::kExceedLimit, "log_rra_max too large");
  auto& a = t.attributes;
  a.mtu_bytes = 128u << mtu;
  a.remote_qpn = get(t.context, qpc::remote_qpn);
  a.recv_psn = get(t.context, qpc::next_rcv_psn);
  a.min_rnr_nak = static_cast<std::uint8_t>(get(t.context, qpc::min_rnr_nak));
  a.responder_reads = static_cast<std::uint8_t>(1u << log_reads);
  return {};
}

// A DCI learns its destination from each WQE. Access rights and responder's fields may be said and mean nothing.
Reply take_dci(Transition& t) {
  const auto mtu = get(t.context, qpc::mtu);
  if (mtu == 0 || mtu > active_mtu_code(t.attributes.device)) {
    return refuse(CommandStatus::kBadParameter, "mtu: 0, or more than the port's");
  }
  if (get(t.context, qpc::log_msg_max) > kLogMaxMessage)
    return refuse(CommandStatus::kExceedLimit, "log_msg_max too large");
  if (get(t.context, qpc::remote_qpn) != 0) return refuse(CommandStatus::kBadParameter, "remote_qpn of a DCI");
  t.attributes.mtu_bytes = 128u << mtu;
  t.attributes.remote_device = kNoDevice;
  return {};
}

Reply take_requester(Transition& t) {
  const auto log_reads = get(t.context, qpc::log_sra_max);
  if (log_reads > kLogMaxReads) return refuse(CommandStatus::kExceedLimit, "log_sra_max too large");
  auto& a = t.attributes;
  a.send_psn = get(t.context, qpc::next_send_psn);
  a.ack_timeout = static_cast<std::uint8_t>(get(t.path, ads::ack_timeout));
  a.retry_count = static_cast<std::uint8_t>(get(t.context, qpc::retry_count));
  a.rnr_retry = static_cast<std::uint8_t>(get(t.context, qpc::rnr_retry));
  a.log_ack_req_freq = static_cast<std::uint8_t>(get(t.context, qpc::log_ack_req_freq));
  a.initiator_reads = static_cast<std::uint8_t>(1u << log_reads);
  return {};
}

// The record counts from 0 in a new life of the QP; what is left of the old one would be executed as work.
Reply check_fresh_record(Client& client, const Qp& qp) {
  std::uint32_t word = 0;
  if (client.engine.checking() != Checking::kStrict || qp.config.dbrec == nullptr) return {};
  const void* const send = &qp.config.dbrec->send;
  GpuEngine* const gpu = qp.on_gpu ? client.engine.gpu() : nullptr;
  const bool loaded = gpu != nullptr ? gpu->read(&word, send, sizeof word) : dma::load32(send, word);
  if (!loaded) return refuse(CommandStatus::kBadResource, "dbrec is not mapped");
  if (word != 0) return refuse(CommandStatus::kBadParameter, "send dbrec is not 0 at RST2INIT");
  return {};
}

/// A row of the state machine: where it leads from and to, and what it takes on the way.
struct Step {
  QpState from{};
  QpState to{};
  std::uint32_t optional = 0;  // bits of opt_param_mask that it knows
  Reply (*take[3])(Transition&) = {};
};

constexpr std::uint32_t kAccessBits = prm::opt::kRre | prm::opt::kRwe | prm::opt::kRae;

constexpr Step kRst2Init{QpState::kReset,
                         QpState::kInit,
                         kAccessBits | prm::opt::kPkeyIndex | prm::opt::kPrimaryPort,
                         {take_access, take_port, nullptr}};
constexpr Step kInit2Init{QpState::kInit,
                          QpState::kInit,
                          kAccessBits | prm::opt::kPkeyIndex | prm::opt::kPrimaryPort,
                          {take_optional_access, nullptr, nullptr}};
constexpr Step kInit2Rtr{QpState::kInit,
                         QpState::kRtr,
                         kAccessBits | prm::opt::kPkeyIndex,
                         {take_responder, take_path, take_optional_access}};
constexpr Step kDciInit2Rtr{
    QpState::kInit, QpState::kRtr, kAccessBits | prm::opt::kPkeyIndex, {take_dci, take_optional_access, nullptr}};
constexpr Step kRtr2Rts{
    QpState::kRtr, QpState::kRts, kAccessBits | prm::opt::kRnrTimeout, {take_requester, take_optional_access, nullptr}};
constexpr Step kRts2Rts{
    QpState::kRts, QpState::kRts, kAccessBits | prm::opt::kRnrTimeout, {take_optional_access, nullptr, nullptr}};

Reply answer(Engine::Modify result) {
  switch (result) {
    case Engine::Modify::kOk:
      return {};
    case Engine::Modify::kBadState:
      return refuse(CommandStatus::kBadQpState, "QP is in another state");
    case Engine::Modify::kBadAttribute:
      break;
  }
  return refuse(CommandStatus::kBadParameter, "QP attribute out of range");
}

Reply run(Client& client, const std::byte* in, const Step& step) {
  Qp* const qp = client.find_qp(get(in, prm::modify_qp::qpn));
  if (qp == nullptr) return refuse(CommandStatus::kBadResource, "no such QP in this context");
  if (qp->dci == nullptr && get(in + prm::modify_qp::kContext, qpc::dc_access_key) != 0) {
    return refuse(CommandStatus::kBadParameter, "dc_access_key: an RC QP has none");
  }
  if (qp->state != step.from) return refuse(CommandStatus::kBadQpState, "QP is in another state");
  Transition t{.context = in + prm::modify_qp::kContext,
               .path = in + prm::modify_qp::kContext + qpc::kPrimaryPath,
               .optional = get(in, prm::modify_qp::opt_param_mask),
               .attributes = qp->attributes};
  t.attributes.device = client.device.index;
  if (t.optional & ~step.optional) return refuse(CommandStatus::kBadParameter, "opt_param_mask: bit not known here");
  const auto pm_state = get(t.context, qpc::pm_state);
  if (pm_state != 0 && pm_state != kPmMigrated) {
    return refuse(CommandStatus::kBadParameter, "pm_state: path migration is not modelled, only migrated (3) is");
  }
  if (step.from == QpState::kReset) {
    if (const auto reply = check_fresh_record(client, *qp); !reply.ok()) return reply;
  }
  for (const auto take : step.take) {
    if (take == nullptr) break;
    if (const auto reply = take(t); !reply.ok()) return reply;
  }
  return answer(client.engine.modify_qp(client.device, *qp, step.to, t.attributes));
}

Reply end(Client& client, const std::byte* in, QpState to) {
  Qp* const qp = client.find_qp(get(in, prm::modify_qp::qpn));
  if (qp == nullptr) return refuse(CommandStatus::kBadResource, "no such QP in this context");
  return answer(client.engine.modify_qp(client.device, *qp, to, qp->attributes));
}

}  // namespace

Reply rst2init(Client& client, const std::byte* in, std::byte*) {
  return run(client, in, kRst2Init);
}

Reply init2init(Client& client, const std::byte* in, std::byte*) {
  return run(client, in, kInit2Init);
}

Reply init2rtr(Client& client, const std::byte* in, std::byte*) {
  const Qp* const qp = client.find_qp(get(in, prm::modify_qp::qpn));
  return run(client, in, qp != nullptr && qp->dci != nullptr ? kDciInit2Rtr : kInit2Rtr);
}

Reply rtr2rts(Client& client, const std::byte* in, std::byte*) {
  return run(client, in, kRtr2Rts);
}

Reply rts2rts(Client& client, const std::byte* in, std::byte*) {
  return run(client, in, kRts2Rts);
}

Reply qp_2err(Client& client, const std::byte* in, std::byte*) {
  return end(client, in, QpState::kError);
}

Reply qp_2rst(Client& client, const std::byte* in, std::byte*) {
  return end(client, in, QpState::kReset);
}

}  // namespace marrow::cx7::fw
