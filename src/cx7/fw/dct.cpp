// SPDX-License-Identifier: Apache-2.0
// CREATE_DCT, DRAIN_DCT, DESTROY_DCT, QUERY_DCT.
// Facts: DCT context fields, that it is active at once and must be drained before it goes [prm]; that a CQ and an SRQ
// are wanted even where only RDMA comes [obs: what GPU libraries create].
#include "cx7/fw/command.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/path.h"

namespace marrow::cx7::fw {
namespace {

namespace prm = wire::prm;
namespace dctc = wire::prm::dctc;
using prm::get;
using prm::set;

constexpr std::uint32_t kMaxAtomicMode = 3;  // up to 8-byte operands
constexpr std::uint32_t kStateActive = 0;
constexpr std::uint32_t kStateDrained = 2;

Reply check_resources(const Client& client, const std::byte* context) {
  if (!client.pds.contains(get(context, dctc::pd))) {
    return refuse(CommandStatus::kBadResource, "no such PD in this context");
  }
  if (client.find_cq(get(context, dctc::cqn)) == nullptr) {
    return refuse(CommandStatus::kBadResource, "cqn: no such CQ in this context");
  }
  const auto srqn = get(context, dctc::srqn);
  if (!client.srqs.contains(srqn) || client.device.srqs.find(srqn)->xrcd != 0) {
    return refuse(CommandStatus::kBadResource, "srqn: no such SRQ in this context");
  }
  return {};
}

Reply check_context(std::uint8_t device, const std::byte* context) {
  const auto mtu = get(context, dctc::mtu);
  if (mtu == 0 || mtu > active_mtu_code(device)) {
    return refuse(CommandStatus::kBadParameter, "mtu: 0, or more than the port's");
  }
  if (get(context, dctc::port) != 1) return refuse(CommandStatus::kBadParameter, "port: the device has port 1 only");
  if (get(context, dctc::pkey_index) != 0) {
    return refuse(CommandStatus::kBadIndex, "pkey_index: the table has entry 0 only");
  }
  if (get(context, dctc::atomic_mode) > kMaxAtomicMode) {
    return refuse(CommandStatus::kBadParameter, "atomic_mode: operands over 8 bytes are not modelled");
  }
  return {};
}

std::uint32_t access_of(const std::byte* context) {
  return (get(context, dctc::rre) ? kRemoteRead : 0u) | (get(context, dctc::rwe) ? kRemoteWrite : 0u) |
         (get(context, dctc::rae) && get(context, dctc::atomic_mode) != 0 ? kRemoteAtomic : 0u);
}

Qp* find_dct(const Client& client, const std::byte* in) {
  const auto dctn = get(in, prm::query_dct::dctn);
  return client.dcts.contains(dctn) ? client.device.qps.find(dctn) : nullptr;
}

constexpr std::string_view kNoDct = "no such DCT in this context";

}  // namespace

Reply create_dct(Client& client, const std::byte* in, std::byte* out) {
  const std::byte* const context = in + prm::create_dct::kContext;
  if (const auto reply = check_resources(client, context); !reply.ok()) return reply;
  if (const auto reply = check_context(client.device.index, context); !reply.ok()) return reply;
  const auto dctn = client.device.qps.next_number();
  if (dctn == 0) return refuse(CommandStatus::kExceedLimit, "no DCT left");
  QpConfig config;
  config.qpn = dctn;
  config.service = ServiceType::kDct;
  config.pdn = get(context, dctc::pd);
  config.user_index = get(context, dctc::user_index);
  config.uar_page = kNoUarPage;
  config.recv_cq = client.find_cq(get(context, dctc::cqn));
  config.srq = client.device.srqs.find(get(context, dctc::srqn));
  QpAttributes attributes;
  attributes.access = access_of(context);
  attributes.mtu_bytes = 128u << get(context, dctc::mtu);
  attributes.min_rnr_nak = static_cast<std::uint8_t>(get(context, dctc::min_rnr_nak));
  attributes.responder_reads = kMaxReads;
  client.engine.add_dct(client.device, config, attributes, get(context, dctc::dc_access_key));
  client.dcts.insert(dctn);
  set(out, prm::out::object, dctn);
  return {};
}

// Nothing is left to wait for: what a DCI has under way here ends with it, in a retry.
Reply drain_dct(Client& client, const std::byte* in, std::byte*) {
  Qp* const dct = find_dct(client, in);
  if (dct == nullptr) return refuse(CommandStatus::kBadResource, kNoDct);
  client.engine.drain_dct(*dct);
  return {};
}

Reply destroy_dct(Client& client, const std::byte* in, std::byte*) {
  Qp* const dct = find_dct(client, in);
  if (dct == nullptr) return refuse(CommandStatus::kBadResource, kNoDct);
  if (!dct->dct->drained) return refuse(CommandStatus::kBadResourceState, "DCT not drained");
  client.dcts.erase(dct->config.qpn);
  client.engine.remove_qp(client.device, *dct);
  return {};
}

Reply query_dct(Client& client, const std::byte* in, std::byte* out) {
  const Qp* const dct = find_dct(client, in);
  if (dct == nullptr) return refuse(CommandStatus::kBadResource, kNoDct);
  std::byte* const context = out + prm::query_dct::kContext;
  const auto& a = dct->attributes;
  set(context, dctc::state, dct->dct->drained ? kStateDrained : kStateActive);
  set(context, dctc::user_index, dct->config.user_index);
  set(context, dctc::cqn, dct->config.recv_cq->cqn);
  set(context, dctc::srqn, dct->config.srq->srqn);
  set(context, dctc::pd, dct->config.pdn);
  set(context, dctc::rre, a.access & kRemoteRead ? 1 : 0);
  set(context, dctc::rwe, a.access & kRemoteWrite ? 1 : 0);
  set(context, dctc::rae, a.access & kRemoteAtomic ? 1 : 0);
  set(context, dctc::atomic_mode, a.access & kRemoteAtomic ? kMaxAtomicMode : 0);
  set(context, dctc::min_rnr_nak, a.min_rnr_nak);
  set(context, dctc::dc_access_key, dct->dct->key);
  set(context, dctc::mtu, log2_of(a.mtu_bytes / 128));
  set(context, dctc::port, 1);
  set(context, dctc::key_violations, dct->dct->violations);
  return {};
}

}  // namespace marrow::cx7::fw
