// SPDX-License-Identifier: Apache-2.0
// Stops 6 and 7 of 9 for unreliable datagrams: a send is one packet whose way stands in its WQE, and whoever is not
// there, not ready or has another Q_Key never hears of it. Facts: Q_Key rules, 40 bytes in front of each received
// datagram [prm: IBA vol. 1, 9.8.3, 10.2.5]; that the 40 bytes count and are left alone without a GRH [obs].
#include "cx7/hca/data_path.h"
#include "cx7/hca/memory.h"
#include "cx7/hca/request_table.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

constexpr std::uint32_t kOwnQkey = 1u << 31;  // in a WQE's Q_Key: use that of the QP
constexpr std::uint32_t kGrhPresent = 1u << 30;
constexpr std::uint8_t kIpVersion4 = 0x45;

std::uint32_t destination_qpn(const wire::AddressVector& av) {
  return av.compact.extension_dctn.host() & 0xffffff;
}

bool is_extended(const wire::AddressVector& av) {
  return (av.compact.extension_dctn.host() & wire::kAvExtended) != 0;
}

std::uint32_t grh_bytes_of(const Routing& routing, const wire::AddressVector& av) {
  const bool global = routing.ethernet || (is_extended(av) && (av.extension.grh.host() & kGrhPresent) != 0);
  return global ? kGrhBytes : 0;
}

// An IPv4 header leaves the first half alone.
std::uint8_t grh_kind(const Packet& packet) {
  if (!packet.grh) return 0;
  return static_cast<std::uint8_t>(packet.payload()[kGrhBytes / 2]) == kIpVersion4 &&
                 packet.payload()[0] == std::byte{0}
             ? 2
             : 1;
}

}  // namespace

// Datagrams are never sent again: `decoded` is that of the WQE at hand.
bool DataPath::send_datagram(Qp& qp) {
  const auto& decoded = qp.requester.decoded;
  const SentWqe& wqe = window_at(qp.requester, qp.requester.sending);
  const auto grh_bytes = grh_bytes_of(qp.config.routing, decoded.av);
  qp.attributes.remote_device = qp.config.routing.device_of(decoded.av);
  const auto route = route_to(qp.attributes.remote_device, destination_qpn(decoded.av));
  Reservation room{Reservation::State::kLost, nullptr};
  if (qp.attributes.remote_device != kNoDevice) room = engine_.fabric_.reserve(route, grh_bytes + decoded.bytes);
  if (room.state == Reservation::State::kFull) return false;
  if (room.state == Reservation::State::kRoom) {
    room.packet->payload_bytes = grh_bytes + decoded.bytes;
    if (!fill_datagram(qp, grh_bytes, *room.packet)) {
      refuse(qp, {true, wqe.index, wqe.opcode, wire::Syndrome::kLocalProtection, 0x51});
      return false;
    }
    count_sent(*room.packet);
    engine_.fabric_.commit(route);
  } else {
    ++device_.counters.packets_dropped;
  }
  sent(qp, wqe);
  return true;
}

bool DataPath::fill_datagram(Qp& qp, std::uint32_t grh_bytes, Packet& packet) {
  auto& requester = qp.requester;
  const auto& decoded = requester.decoded;
  const auto qkey = static_cast<std::uint32_t>(decoded.av.compact.key.host() >> 32);
  const bool imm = decoded.ctrl.opcode() == wire::Opcode::kSendImm;
  packet.dest_qpn = destination_qpn(decoded.av);
  packet.psn = window_at(requester, requester.sending).first_psn;
  packet.opcode = imm ? PacketOpcode::kUdSendOnlyImm : PacketOpcode::kUdSendOnly;
  packet.from_device = device_.index;
  packet.to_device = qp.attributes.remote_device;
  packet.solicited = decoded.ctrl.solicited() == wire::Solicited::kYes;
  packet.msn = qp.config.qpn;
  packet.imm = decoded.ctrl.imm.raw;
  packet.rkey = (qkey & kOwnQkey) != 0 ? qp.attributes.qkey : qkey;
  packet.grh = grh_bytes != 0;
  packet.service_level = decoded.av.compact.rate_sl & 0xf;
  trace_sent(TraceEvent::Kind::kPacketSent, qp.config.qpn, packet, static_cast<std::uint8_t>(packet.opcode));
  if (grh_bytes != 0) {
    const GrhSpace grh{packet.payload(), kGrhBytes};
    if (!qp.config.routing.write_grh(device_.index, decoded.av, decoded.bytes, grh)) return false;
  }
  return gather(decoded, 0, {packet.payload() + grh_bytes, decoded.bytes});
}

void DataPath::on_datagram(Qp& qp, const Packet& packet) {
  auto& responder = qp.responder;
  const bool receives = qp.state == QpState::kRtr || qp.state == QpState::kRts || qp.state == QpState::kSqer;
  const bool known = packet.opcode == PacketOpcode::kUdSendOnly || packet.opcode == PacketOpcode::kUdSendOnlyImm;
  if (!receives || !known || packet.payload_bytes < (packet.grh ? kGrhBytes : 0)) {
    ++device_.counters.packets_dropped;
    return;
  }
  if (packet.rkey != qp.attributes.qkey) {
    ++device_.counters.qkey_violations;
    util::log::once("ud.qkey", "QP {:#x}: a datagram came with another Q_Key and was dropped", qp.config.qpn);
    return;
  }
  const auto taken = take_recv_wqe(qp);
  if (taken == Taken::kRefused) return;
  if (taken == Taken::kNone) {
    ++device_.counters.datagrams_without_receive;
    return;
  }
  responder.received = packet.grh ? 0 : kGrhBytes;
  if (!scatter_recv(qp, packet)) return;
  device_.counters.payload_bytes_received += packet.payload_bytes;
  const bool imm = packet.opcode == PacketOpcode::kUdSendOnlyImm;
  const auto& lids = qp.config.routing.lids;
  complete_recv(qp, {.opcode = imm ? wire::CqeOpcode::kRecvSendImm : wire::CqeOpcode::kRecvSend,
                     .byte_count = responder.received + packet.payload_bytes,
                     .imm = imm ? packet.imm : 0,
                     .solicited = packet.solicited,
                     .source_qpn = packet.msn,
                     .source_lid = packet.from_device < lids.size() ? lids[packet.from_device] : std::uint16_t{0},
                     .service_level = packet.service_level,
                     .grh = grh_kind(packet)});
  if (qp.config.recv_cq->dead) lose_cq(qp);
}

}  // namespace marrow::cx7
