// SPDX-License-Identifier: Apache-2.0
// Stop 7 of 9 (docs/one-message.md). In: a request packet. Out: written memory, a receive's CQE, an answer owed.
// The checks stand in the specification's order: state and source, PSN, opcode sequence, QP rights, receive WQE,
// length, key. A refusal changes no byte. Facts: [prm: IBA vol. 1, 9.7.4-9.7.6].
#include <algorithm>

#include "cx7/hca/data_path.h"
#include "cx7/hca/memory.h"
#include "cx7/hca/request_table.h"

namespace marrow::cx7 {
namespace {

Responder::Message message_of(RequestKind kind) {
  return kind == RequestKind::kSend ? Responder::Message::kSend : Responder::Message::kWrite;
}

// The receive WQE, if one was taken, waits for the next message.
void forget_message(Responder& responder) {
  responder.message = Responder::Message::kNone;
  responder.received = 0;
}

bool receives(QpState state) {
  return state == QpState::kRtr || state == QpState::kRts || state == QpState::kSqer;
}

// XRC: each message says which SRQ it is for, and it must be one of the QP's domain.
bool choose_srq(const Device& device, Qp& qp, std::uint32_t srqn) {
  Srq* const srq = device.srqs.find(srqn);
  const bool good = srq != nullptr && srq->xrcd != 0 && srq->xrcd == qp.config.xrcd;
  qp.responder.srq = good ? srq : nullptr;
  return good;
}

std::uint32_t packets_of(std::uint32_t bytes, std::uint32_t mtu) {
  return std::max(1u, (bytes + mtu - 1) / mtu);
}

}  // namespace

void DataPath::on_request(Qp& qp, const Packet& packet) {
  auto& responder = qp.responder;
  if (!receives(qp.state) || packet.from_device != qp.attributes.remote_device || responder.nak_owed) {
    ++device_.counters.packets_dropped;
    return;
  }
  if (!responder.established) [[unlikely]]
    establish(qp);
  mark_ready(qp);
  if (!check_order(qp, packet)) return;
  if (!check_message(qp, packet)) return nak(qp, packet.psn, aeth::kNakInvalidRequest);
  auto& counters = device_.counters;
  switch (row_of(packet.opcode).kind) {
    case RequestKind::kSend:
      return on_send(qp, packet);
    case RequestKind::kWrite:
      counters.write_requests += row_of(packet.opcode).first ? 1 : 0;
      return on_write(qp, packet);
    case RequestKind::kRead:
      ++counters.read_requests;
      return on_read(qp, packet);
    case RequestKind::kAtomic:
      ++counters.atomic_requests;
      return on_atomic(qp, packet);
    case RequestKind::kNone:
      break;
  }
}

void DataPath::establish(Qp& qp) {
  qp.responder.established = true;
  if (qp.state == QpState::kRtr) tell(qp, AsyncEvent::kCommunicationEstablished);
}

// Whether the packet may stand where it stands in its message.
bool DataPath::check_message(Qp& qp, const Packet& packet) {
  auto& responder = qp.responder;
  const auto& row = row_of(packet.opcode);
  const auto mtu = qp.attributes.mtu_bytes;
  const bool in_message = responder.message != Responder::Message::kNone;
  const bool continues = !row.first && in_message && responder.message == message_of(row.kind);
  const bool right_length = row.last ? packet.payload_bytes <= mtu : packet.payload_bytes == mtu;
  if (row.kind == RequestKind::kNone || (row.first ? in_message : !continues) || !right_length) return false;
  const bool answered = row.kind == RequestKind::kRead || row.kind == RequestKind::kAtomic || row.invalidate;
  if (answered && is_unreliable(qp.config.service)) return false;
  return !row.first || qp.config.service != ServiceType::kXrc || choose_srq(device_, qp, packet.msn);
}

// True when this is the packet expected. A gap is reported once; a duplicate is answered, never executed again.
bool DataPath::check_order(Qp& qp, const Packet& packet) {
  auto& responder = qp.responder;
  const auto distance = psn_distance(packet.psn, responder.expected_psn);
  if (qp.config.service == ServiceType::kUc) {  // what is lost takes the rest of its message along, and nothing else
    if (distance != 0 || row_of(packet.opcode).first) forget_message(responder);
    responder.expected_psn = packet.psn;
    return true;
  }
  if (distance == 0) {
    responder.sequence_nak_sent = false;
    return true;
  }
  if (distance < 0) {
    on_duplicate(qp, packet);
    return false;
  }
  ++device_.counters.out_of_sequence;
  if (!responder.sequence_nak_sent) {
    responder.sequence_nak_sent = true;
    responder.nak_owed = true;
    responder.nak_syndrome = aeth::kNakSequence;
    responder.nak_psn = responder.expected_psn;
  }
  return false;
}

void DataPath::on_duplicate(Qp& qp, const Packet& packet) {
  auto& responder = qp.responder;
  ++device_.counters.duplicates_received;
  const auto kind = row_of(packet.opcode).kind;
  if (kind == RequestKind::kSend || kind == RequestKind::kWrite) {
    responder.ack_owed = true;
    return;
  }
  const auto kept = std::min(responder.resource_next, kMaxResources);
  for (auto at = responder.resource_next - kept; at != responder.resource_next; ++at) {
    auto& resource = responder.resources[at % kMaxResources];
    const auto packet_index = psn_distance(packet.psn, resource.first_psn);
    if (packet_index < 0 || packet_index >= static_cast<std::int32_t>(resource.packets)) continue;
    resource.sent = static_cast<std::uint32_t>(packet_index);
    for (auto later = at + 1; later != responder.resource_next; ++later) {
      responder.resources[later % kMaxResources].sent = 0;  // answers go out in order: all later ones again
    }
    responder.resource_first = std::min(responder.resource_first, at);
    return;
  }
  ++device_.counters.packets_dropped;
}

void DataPath::nak(Qp& qp, std::uint32_t psn, std::uint8_t syndrome) {
  auto& responder = qp.responder;
  if (syndrome == aeth::kNakRemoteAccess) ++device_.counters.access_errors_found;
  if (is_unreliable(qp.config.service)) {
    forget_message(responder);
    responder.expected_psn = psn_add(psn, 1);
    ++device_.counters.packets_dropped;
    return;
  }
  responder.nak_owed = true;
  responder.nak_syndrome = syndrome;
  responder.nak_psn = psn;
  // What follows of the same burst is no gap: it comes again after the pause.
  responder.sequence_nak_sent = true;
}

void DataPath::nak_not_ready(Qp& qp, const Packet& packet) {
  nak(qp, packet.psn, aeth::kRnrNak | qp.attributes.min_rnr_nak);
}

// Everything in the packet is done: the next PSN is expected, and an answer may be owed.
void DataPath::advance(Qp& qp, const Packet& packet, std::uint32_t psns) {
  auto& responder = qp.responder;
  responder.expected_psn = psn_add(responder.expected_psn, psns);
  device_.counters.payload_bytes_received += packet.payload_bytes;
  if (!row_of(packet.opcode).last) return;
  responder.msn = psn_add(responder.msn, 1);
  responder.message = Responder::Message::kNone;
  responder.received = 0;
}

void DataPath::on_write(Qp& qp, const Packet& packet) {
  auto& responder = qp.responder;
  const auto& row = row_of(packet.opcode);
  Span to;
  if (row.first) {
    if ((qp.attributes.access & kRemoteWrite) == 0) return nak(qp, packet.psn, aeth::kNakInvalidRequest);
    const KeyedRange range{packet.rkey, pdn_of(qp), kRemoteWrite, packet.va, packet.dma_bytes, qp.config.qpn};
    if (packet.dma_bytes != 0) to = resolve(device_, range);
    if (packet.dma_bytes != 0 && !to) return nak(qp, packet.psn, aeth::kNakRemoteAccess);
    responder.va = packet.va;
    responder.rkey = packet.rkey;
    responder.left = packet.dma_bytes;
  }
  const bool whole = row.last ? packet.payload_bytes == responder.left : packet.payload_bytes < responder.left;
  if (!whole) return nak(qp, packet.psn, aeth::kNakInvalidRequest);
  if (row.imm) {
    const auto taken = take_recv_wqe(qp);
    if (taken == Taken::kNone) return nak_not_ready(qp, packet);
    if (taken == Taken::kRefused) return;
  }
  if (packet.payload_bytes != 0) {
    // Looked up anew behind the first packet: the key may have been destroyed since.
    if (!row.first) {
      to = resolve(device_,
                   {responder.rkey, pdn_of(qp), kRemoteWrite, responder.va, packet.payload_bytes, qp.config.qpn});
    }
    if (!to) return nak(qp, packet.psn, aeth::kNakRemoteAccess);
    const bool copied = for_each_piece(device_, {&to, 1}, 0, packet.payload_bytes,
                                       [&packet](std::byte* host, std::uint32_t at, std::uint32_t bytes) {
                                         return dma::copy(host, packet.payload() + at, bytes);
                                       });
    if (!copied) return nak(qp, packet.psn, nak_of_memory(to));
    if (is_tracing()) [[unlikely]]
      add_to_trace({.kind = TraceEvent::Kind::kRemoteWrite,
                    .qpn = qp.config.qpn,
                    .a = qp.config.qpn,
                    .b = responder.va,
                    .c = packet.payload_bytes});
  }
  responder.message = Responder::Message::kWrite;
  responder.va += packet.payload_bytes;
  responder.left -= packet.payload_bytes;
  responder.received += packet.payload_bytes;
  responder.ack_owed |= packet.ack_request;
  if (row.imm) finish_recv(qp, packet);
  advance(qp, packet, 1);
}

void DataPath::on_send(Qp& qp, const Packet& packet) {
  auto& responder = qp.responder;
  const auto taken = take_recv_wqe(qp);
  if (taken == Taken::kNone) return nak_not_ready(qp, packet);
  if (taken == Taken::kRefused) return;
  if (row_of(packet.opcode).invalidate && !invalidate(qp, packet.rkey)) {
    return nak(qp, packet.psn, aeth::kNakRemoteAccess);
  }
  if (!scatter_recv(qp, packet)) return;
  responder.message = Responder::Message::kSend;
  responder.received += packet.payload_bytes;
  responder.ack_owed |= packet.ack_request;
  if (row_of(packet.opcode).last) finish_recv(qp, packet);
  advance(qp, packet, 1);
}

void DataPath::on_read(Qp& qp, const Packet& packet) {
  auto& responder = qp.responder;
  const bool room = responder.may_owe_more(qp.attributes.responder_reads);
  if ((qp.attributes.access & kRemoteRead) == 0 || !room) return nak(qp, packet.psn, aeth::kNakInvalidRequest);
  const KeyedRange range{packet.rkey, pdn_of(qp), kRemoteRead, packet.va, packet.dma_bytes, qp.config.qpn};
  if (packet.dma_bytes != 0 && !resolve(device_, range)) return nak(qp, packet.psn, aeth::kNakRemoteAccess);
  const auto packets = packets_of(packet.dma_bytes, qp.attributes.mtu_bytes);
  advance(qp, packet, packets);
  responder.owe({.kind = ResponderResource::Kind::kRead,
                 .first_psn = packet.psn,
                 .packets = packets,
                 .msn = responder.msn,
                 .pdn = pdn_of(qp),
                 .va = packet.va,
                 .rkey = packet.rkey,
                 .bytes = packet.dma_bytes});
}

}  // namespace marrow::cx7
