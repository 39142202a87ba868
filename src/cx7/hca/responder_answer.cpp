// SPDX-License-Identifier: Apache-2.0
// Second half of stop 7 of 9: the answers a responder owes, in order: read and atomic responses, then one NAK or ACK
// for everything that arrived since the last. A full link stops it here, and nothing is lost: what is owed is state.
#include <algorithm>
#include <utility>

#include "cx7/hca/data_path.h"
#include "cx7/hca/memory.h"

namespace marrow::cx7 {
namespace {

PacketOpcode response_opcode(std::uint32_t packet, std::uint32_t packets) {
  if (packets == 1) return PacketOpcode::kReadResponseOnly;
  if (packet == 0) return PacketOpcode::kReadResponseFirst;
  return packet + 1 == packets ? PacketOpcode::kReadResponseLast : PacketOpcode::kReadResponseMiddle;
}

bool is_fatal(std::uint8_t syndrome) {
  return syndrome > aeth::kNakSequence;
}

}  // namespace

bool DataPath::answer(Qp& qp) {
  auto& responder = qp.responder;
  while (responder.resource_first != responder.resource_next) {
    if (!answer_resource(qp, responder.resources[responder.resource_first % kMaxResources])) return false;
    ++responder.resource_first;
    if (static_cast<std::int32_t>(responder.resource_first - responder.resource_answered) > 0) {
      responder.resource_answered = responder.resource_first;
    }
  }
  if (responder.nak_owed) {
    if (!send_ack(qp, responder.nak_psn, responder.nak_syndrome)) return false;
    responder.nak_owed = false;
    responder.ack_owed = false;
    if (is_fatal(responder.nak_syndrome)) fail_responder(qp);
  }
  if (responder.ack_owed) {
    if (!send_ack(qp, psn_add(responder.expected_psn, 0xffffff), aeth::kAck)) return false;
    responder.ack_owed = false;
  }
  return true;
}

// Where a receive failed its CQE has said so; of everything else only an event tells.
void DataPath::fail_responder(Qp& qp) {
  const auto syndrome = qp.responder.nak_syndrome;
  const bool told = std::exchange(qp.responder.recv_failed, false);
  enter_error(qp);
  if (told) return;
  tell(qp, syndrome == aeth::kNakInvalidRequest ? AsyncEvent::kQpRequestError
           : syndrome == aeth::kNakRemoteAccess ? AsyncEvent::kQpAccessError
                                                : AsyncEvent::kQpFatal);
}

// Room for an answer; null with `full` false when the requester is gone and the answer with it.
Packet* DataPath::reserve_answer(Qp& qp, std::uint32_t bytes, bool& full) {
  const auto room = engine_.fabric_.reserve(route_of(qp), bytes);
  full = room.state == Reservation::State::kFull;
  if (room.state == Reservation::State::kLost) ++device_.counters.packets_dropped;
  if (room.state != Reservation::State::kRoom) return nullptr;
  Packet& packet = *room.packet;
  packet.payload_bytes = bytes;
  packet.dest_qpn = qp.attributes.remote_qpn;
  packet.from_device = device_.index;
  packet.to_device = qp.attributes.remote_device;
  packet.ack_request = false;
  packet.solicited = false;
  packet.syndrome = aeth::kAck;
  return &packet;
}

bool DataPath::send_ack(Qp& qp, std::uint32_t psn, std::uint8_t syndrome) {
  bool full = false;
  Packet* packet = reserve_answer(qp, 0, full);
  if (packet == nullptr) return !full;
  packet->opcode = opcode_in(transport_of(qp.config.service), PacketOpcode::kAcknowledge);
  packet->psn = psn;
  packet->msn = qp.responder.msn;
  packet->syndrome = syndrome;
  count_sent(*packet);
  trace_sent(TraceEvent::Kind::kAckSent, qp.config.qpn, *packet, std::uint64_t{syndrome} << 24 | packet->msn);
  engine_.fabric_.commit(route_of(qp));
  auto& counters = device_.counters;
  if (syndrome < aeth::kRnrNak) {
    ++counters.acks_sent;
  } else {
    ++(syndrome < aeth::kNakSequence ? counters.rnr_naks_sent : counters.naks_sent);
  }
  return true;
}

bool DataPath::answer_resource(Qp& qp, ResponderResource& resource) {
  for (; resource.sent < resource.packets; ++resource.sent) {
    const auto mtu = qp.attributes.mtu_bytes;
    const auto offset = resource.sent * mtu;
    const bool read = resource.kind == ResponderResource::Kind::kRead;
    const auto bytes = read ? std::min(mtu, resource.bytes - offset) : 0;
    bool full = false;
    Packet* packet = reserve_answer(qp, bytes, full);
    if (packet == nullptr) {
      if (full) return false;
      continue;
    }
    packet->psn = psn_add(resource.first_psn, resource.sent);
    packet->msn = resource.msn;
    const auto operation = read ? response_opcode(resource.sent, resource.packets) : PacketOpcode::kAtomicAcknowledge;
    packet->opcode = opcode_in(transport_of(qp.config.service), operation);
    packet->swap_add = resource.original;
    if (bytes != 0) {
      const KeyedRange range{resource.rkey, resource.pdn, kRemoteRead, resource.va + offset, bytes, qp.config.qpn};
      const Span from = resolve(device_, range);
      const bool copied =
          from && for_each_piece(device_, {&from, 1}, 0, bytes,
                                 [packet](const std::byte* host, std::uint32_t at, std::uint32_t piece) {
                                   return dma::copy(packet->payload() + at, host, piece);
                                 });
      if (!copied) {
        qp.responder.nak_owed = true;
        qp.responder.nak_syndrome = nak_of_memory(from);
        qp.responder.nak_psn = packet->psn;
        resource.sent = resource.packets;
        return true;
      }
    }
    count_sent(*packet);
    trace_sent(TraceEvent::Kind::kAckSent, qp.config.qpn, *packet, std::uint64_t{aeth::kAck} << 24 | packet->msn);
    engine_.fabric_.commit(route_of(qp));
  }
  return true;
}

}  // namespace marrow::cx7
