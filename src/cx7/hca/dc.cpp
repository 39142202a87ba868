// SPDX-License-Identifier: Apache-2.0
// Stops 6 and 7 of 9 for dynamically connected QPs: a DCI turns to the destination of its next WQE, a DCT finds the
// responder that a packet belongs to. Everything else of a DC message is requester.cpp, responder.cpp and
// completer.cpp. Facts: see dc.h.
#include <cstring>

#include "cx7/hca/data_path.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

std::uint32_t dctn_of(const wire::AddressVector& av) {
  return av.compact.extension_dctn.host() & 0xffffff;
}

bool is_same(const wire::AddressVector& a, const wire::AddressVector& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// A number that no earlier connection of this process had: a DCT tells a repeated packet from a new connection by it.
std::uint32_t next_connection() {
  static std::uint32_t last = 0;  // the engine's lock is held
  return ++last;
}

}  // namespace

// Turns `qp` to the destination of the WQE in `decoded`. False: what went to the former one is not acknowledged yet.
bool DataPath::aim(Qp& qp) {
  auto& dci = *qp.dci;
  auto& requester = qp.requester;
  if (requester.decoded.ctrl.opcode() == wire::Opcode::kNop) return true;
  if (dci.connected && is_same(dci.av, requester.decoded.av)) return true;
  if (requester.oldest != requester.newest) return false;
  disconnect(qp);
  dci = {.av = requester.decoded.av, .connected = true, .connect_due = true, .connection = next_connection()};
  qp.attributes.remote_qpn = dctn_of(dci.av);
  qp.attributes.remote_device = qp.config.routing.device_of(dci.av);
  ++device_.counters.dc_connects;
  return true;
}

// False: the link is full. A packet that nobody takes is lost, as on a fabric; the requests behind it find out.
bool DataPath::send_dc(Qp& qp, PacketOpcode opcode) {
  const auto& dci = *qp.dci;
  const auto route = route_of(qp);
  Reservation room{Reservation::State::kLost, nullptr};
  if (qp.attributes.remote_device != kNoDevice) room = engine_.fabric_.reserve(route, 0);
  if (room.state == Reservation::State::kFull) return false;
  if (room.state != Reservation::State::kRoom) {
    ++device_.counters.packets_dropped;
    return true;
  }
  *room.packet = {.dest_qpn = qp.attributes.remote_qpn,
                  .psn = window_at(qp.requester, qp.requester.oldest).first_psn,
                  .opcode = opcode,
                  .msn = qp.config.qpn,
                  .va = dci.av.compact.key.host(),
                  .rkey = dci.connection,
                  .from_device = device_.index,
                  .to_device = qp.attributes.remote_device,
                  .dc = true};
  count_sent(*room.packet);
  trace_sent(TraceEvent::Kind::kPacketSent, qp.config.qpn, *room.packet, static_cast<std::uint8_t>(opcode));
  engine_.fabric_.commit(route);
  return true;
}

bool DataPath::connect(Qp& qp) {
  if (!send_dc(qp, PacketOpcode::kDcConnect)) return false;
  qp.dci->connect_due = false;
  return true;
}

// Where the link is full the DCT keeps a responder that nobody uses; the DCI's next connection to it takes its place.
void DataPath::disconnect(Qp& qp) {
  if (qp.dci == nullptr || !qp.dci->connected) return;
  static_cast<void>(send_dc(qp, PacketOpcode::kDcDisconnect));
  qp.dci->connected = false;
}

void DataPath::on_dc_packet(Qp& dct, const Packet& packet) {
  auto& target = *dct.dct;
  if (packet.opcode == PacketOpcode::kDcConnect) return on_dc_connect(dct, packet);
  const auto at = target.connections.find(packet.msn);
  if (at == target.connections.end() || at->second.responder->state == QpState::kReset) {
    ++device_.counters.packets_dropped;
    return;
  }
  auto& connection = at->second;
  if (packet.opcode != PacketOpcode::kDcDisconnect) return on_request(*connection.responder, packet);
  if (connection.number == packet.rkey) connection.responder->state = QpState::kReset;
}

void DataPath::on_dc_connect(Qp& dct, const Packet& packet) {
  auto& target = *dct.dct;
  if (packet.va != target.key) {
    ++target.violations;
    ++device_.counters.dc_key_violations;
    util::log::once("dc.key", "DCT {:#x}: a DCI came with another access key; its packets are dropped", dct.config.qpn);
    return;
  }
  const bool known = target.connections.contains(packet.msn);
  if (target.drained || (!known && target.connections.size() == kMaxDcConnections)) {
    ++device_.counters.packets_dropped;
    return;
  }
  auto& connection = target.connections[packet.msn];
  if (connection.responder == nullptr) connection.responder = std::make_unique<Qp>();
  Qp& responder = *connection.responder;
  const bool repeated = connection.number == packet.rkey && responder.state != QpState::kReset;
  if (repeated) return;
  connection.number = packet.rkey;
  responder.config = dct.config;
  responder.config.events = nullptr;  // what happens to one connection is no news of the target
  responder.attributes = dct.attributes;
  responder.attributes.remote_qpn = packet.msn;
  responder.attributes.remote_device = packet.from_device;
  responder.responder = {};
  responder.responder.srq = dct.config.srq;
  responder.responder.expected_psn = packet.psn;
  responder.state = QpState::kRtr;
}

}  // namespace marrow::cx7
