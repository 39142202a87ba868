// SPDX-License-Identifier: Apache-2.0
// Stop 6 of 9 (docs/one-message.md). In: a QP whose producer index moved. Out: packets with PSNs.
// Fetches WQEs, cuts messages at the MTU (of connected QPs; datagram.cpp), and stops where the link is full, a fence
// waits or enough reads are out. Facts: PSN rules, ACK requests and windows [prm: IBA vol. 1, 9.7]; order of WQEs on
// one SQ [prm].
#include <algorithm>
#include <cstring>

#include "cx7/hca/data_path.h"
#include "cx7/hca/memory.h"
#include "cx7/hca/timing.h"

namespace marrow::cx7 {
namespace {

using wire::Opcode;

constexpr unsigned kPacketsAStep = 64;  // [guess] bounded work: other QPs and the control path get their turn

struct Shape {
  PacketOpcode only, first, middle, last;
};

Shape shape_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kSend:
      return {PacketOpcode::kSendOnly, PacketOpcode::kSendFirst, PacketOpcode::kSendMiddle, PacketOpcode::kSendLast};
    case Opcode::kSendImm:
      return {PacketOpcode::kSendOnlyImm, PacketOpcode::kSendFirst, PacketOpcode::kSendMiddle,
              PacketOpcode::kSendLastImm};
    case Opcode::kSendInvalidate:
      return {PacketOpcode::kSendOnlyInvalidate, PacketOpcode::kSendFirst, PacketOpcode::kSendMiddle,
              PacketOpcode::kSendLastInvalidate};
    case Opcode::kWriteImm:
      return {PacketOpcode::kWriteOnlyImm, PacketOpcode::kWriteFirst, PacketOpcode::kWriteMiddle,
              PacketOpcode::kWriteLastImm};
    default:
      return {PacketOpcode::kWriteOnly, PacketOpcode::kWriteFirst, PacketOpcode::kWriteMiddle,
              PacketOpcode::kWriteLast};
  }
}

constexpr std::uint32_t kMaskBytes = 16;  // of a masked compare-and-swap: the masks travel as payload

std::uint32_t payload_bytes(const SentWqe& wqe, std::uint32_t offset, std::uint32_t mtu) {
  if (wqe.opcode == Opcode::kMaskedCompareSwap) return kMaskBytes;
  return awaits_response(wqe.opcode) ? 0 : std::min(mtu, wqe.bytes - offset);
}

PacketOpcode packet_opcode(Opcode opcode, std::uint32_t packet, std::uint32_t packets) {
  if (opcode == Opcode::kRead) return PacketOpcode::kReadRequest;
  if (opcode == Opcode::kCompareSwap) return PacketOpcode::kCompareSwap;
  if (opcode == Opcode::kFetchAdd) return PacketOpcode::kFetchAdd;
  if (opcode == Opcode::kMaskedCompareSwap) return PacketOpcode::kMaskedCompareSwap;
  if (opcode == Opcode::kMaskedFetchAdd) return PacketOpcode::kMaskedFetchAdd;
  const auto shape = shape_of(opcode);
  if (packets == 1) return shape.only;
  if (packet == 0) return shape.first;
  return packet + 1 == packets ? shape.last : shape.middle;
}

/// How many packets like those of a message of `bytes` the window takes; a small one costs buffers too. Inside a host
/// the rings are the bound.
std::uint32_t window_packets(const Qp& qp, std::uint32_t bytes) {
  constexpr std::uint32_t kLeastCost = 512;
  constexpr std::uint32_t kUnbounded = 1u << 22;  // less than half of all PSNs
  if (qp.requester.window_bytes == UINT32_MAX) return kUnbounded;
  return qp.requester.window_bytes / std::max(kLeastCost, std::min(bytes, qp.attributes.mtu_bytes));
}

}  // namespace

bool DataPath::send(Qp& qp) {
  auto& requester = qp.requester;
  if (qp.state == QpState::kError || qp.state == QpState::kSqer) {
    flush_send(qp);
    return false;
  }
  if (qp.state != QpState::kRts) return false;
  if (requester.held_until > now_) return false;
  requester.held_until = Time{0};
  bool moved = false;
  for (unsigned packets = 0; packets < kPacketsAStep; ++packets) {
    if (requester.sending == requester.newest && !fetch(qp)) break;
    if (!send_packet(qp)) break;
    moved = true;
  }
  settle_failure(qp);
  return moved;
}

// Takes the next WQE into the window. False: nothing posted, or it must wait.
bool DataPath::fetch(Qp& qp) {
  auto& requester = qp.requester;
  if (requester.next == requester.posted || requester.failure.pending) return false;
  requester.decoded_valid = false;
  const auto refusal = decode(qp, requester.next, requester.decoded);
  const auto& wqe = requester.decoded;
  const auto opcode = wqe.ctrl.opcode();
  if (refusal) return refuse_next(qp, refusal);
  const bool fenced = wqe.ctrl.fence() >= wire::Fence::kFence && requester.reads_out != 0;
  const bool reads_full = awaits_response(opcode) && requester.reads_out >= qp.attributes.initiator_reads;
  if (awaits_response(opcode) && qp.attributes.initiator_reads == 0) {
    return refuse_next(qp, {wire::Syndrome::kLocalQpOperation, 0});
  }
  if (fenced || reads_full || (qp.dci != nullptr && !aim(qp))) return false;
  if (opcode == Opcode::kUmr) {
    if (const auto unchanged = change_key(qp, wqe)) return refuse_next(qp, unchanged);
  }

  const auto mtu = qp.attributes.mtu_bytes;
  SentWqe& entry = window_at(requester, requester.newest);
  entry = {.index = static_cast<std::uint16_t>(requester.next),
           .wqebbs = static_cast<std::uint8_t>(wqe.wqebbs),
           .opcode = opcode,
           .completion = wqe.ctrl.completion(),
           .first_psn = requester.next_psn,
           .packets = is_local(opcode)   ? 0
                      : wqe.bytes <= mtu ? 1
                                         : (wqe.bytes + mtu - 1) / mtu,
           .bytes = wqe.bytes};
  ++device_.counters.wqes_fetched;
  if (is_tracing()) [[unlikely]]
    add_to_trace({.kind = TraceEvent::Kind::kFetch,
                  .qpn = qp.config.qpn,
                  .a = qp.config.qpn,
                  .b = entry.index,
                  .c = std::uint64_t{entry.first_psn} << 32 | std::uint64_t{static_cast<std::uint8_t>(opcode)} << 8 |
                       wqe.ctrl.ds()});
  requester.next_psn = psn_add(requester.next_psn, entry.packets);
  requester.next += wqe.wqebbs;
  requester.newest += 1;
  requester.sending_packet = 0;
  requester.decoded_valid = true;
  if (awaits_response(opcode)) ++requester.reads_out;
  return true;
}

// Local refusal: the QP fails at this WQE, after everything before it has completed.
void DataPath::refuse(Qp& qp, const Requester::Failure& failure) {
  if (failure.syndrome == wire::Syndrome::kLocalProtection) ++device_.counters.local_protection_errors;
  qp.requester.failure = failure;
}

// The WQE that fetch() looks at. False, for its caller.
bool DataPath::refuse_next(Qp& qp, const Refusal& refusal) {
  const auto& requester = qp.requester;
  const auto opcode = requester.decoded.ctrl.opcode();
  refuse(qp, {true, static_cast<std::uint16_t>(requester.next), opcode, refusal.syndrome, refusal.vendor});
  return false;
}

// Packets that another host has not acknowledged are bounded: a network loses what finds no buffer.
bool DataPath::window_is_open(const Qp& qp, const SentWqe& wqe) const {
  const auto psn = psn_add(wqe.first_psn, qp.requester.sending_packet);
  return psn_distance(psn, qp.requester.acked_psn) <= static_cast<std::int32_t>(window_packets(qp, wqe.bytes));
}

bool DataPath::send_packet(Qp& qp) {
  auto& requester = qp.requester;
  const SentWqe& wqe = window_at(requester, requester.sending);
  if (wqe.packets == 0) {  // nothing travels; it completes in its turn
    ++requester.sending;
    requester.decoded_valid = false;
    progress(qp);
    return true;
  }
  if (!requester.decoded_valid) {  // sent again: the WQE is still in the ring
    if (const auto refusal = decode(qp, wqe.index, requester.decoded)) {
      refuse(qp, {true, wqe.index, wqe.opcode, refusal.syndrome, refusal.vendor});
      return false;
    }
    requester.decoded_valid = true;
  }
  if (qp.config.service == ServiceType::kUd) return send_datagram(qp);
  if (qp.dci != nullptr && qp.dci->connect_due && !connect(qp)) return false;
  if (!window_is_open(qp, wqe)) return false;
  const auto offset = requester.sending_packet * qp.attributes.mtu_bytes;
  const auto bytes = payload_bytes(wqe, offset, qp.attributes.mtu_bytes);
  Reservation room{Reservation::State::kLost, nullptr};
  if (qp.attributes.remote_device != kNoDevice) {
    room = engine_.fabric_.reserve(route_of(qp), bytes);
  }
  if (room.state == Reservation::State::kFull) return false;
  if (room.state == Reservation::State::kRoom) {
    room.packet->payload_bytes = bytes;
    if (!fill(qp, wqe, *room.packet)) {
      refuse(qp, {true, wqe.index, wqe.opcode, wire::Syndrome::kLocalProtection, 0x51});
      return false;
    }
    count_sent(*room.packet);
    engine_.fabric_.commit(route_of(qp));
  } else {
    ++device_.counters.packets_dropped;
  }
  sent(qp, wqe);
  return true;
}

// One more packet of `wqe` is out. Where nobody acknowledges, the last one completes it.
void DataPath::sent(Qp& qp, const SentWqe& wqe) {
  auto& requester = qp.requester;
  const bool reliable = !is_unreliable(qp.config.service);
  if (reliable) arm_timer(qp);
  ++requester.sending_packet;
  if (requester.sending_packet < wqe.packets && wqe.opcode != Opcode::kRead) return;
  ++requester.sending;
  requester.sending_packet = 0;
  requester.decoded_valid = false;
  if (reliable) return;
  requester.acked_psn = wqe.last_psn();
  progress(qp);
}

bool DataPath::fill(Qp& qp, const SentWqe& wqe, Packet& packet) {
  auto& requester = qp.requester;
  const auto& decoded = requester.decoded;
  const auto index = requester.sending_packet;
  const auto offset = index * qp.attributes.mtu_bytes;
  const bool last = index + 1 == wqe.packets || wqe.opcode == Opcode::kRead;
  packet.dest_qpn = qp.attributes.remote_qpn;
  packet.psn = psn_add(wqe.first_psn, index);
  packet.opcode = opcode_in(transport_of(qp.config.service), packet_opcode(wqe.opcode, index, wqe.packets));
  packet.from_device = device_.index;
  packet.to_device = qp.attributes.remote_device;
  packet.dc = qp.dci != nullptr;
  packet.solicited = last && decoded.ctrl.solicited() == wire::Solicited::kYes;
  packet.msn = qp.config.service == ServiceType::kXrc ? decoded.srqn : qp.config.qpn;
  packet.imm = decoded.ctrl.imm.raw;  // read only where the opcode has one
  packet.va = decoded.va;
  packet.rkey = decoded.rkey;
  packet.dma_bytes = decoded.bytes;
  if (wqe.opcode == Opcode::kRead) {  // asked for again from the middle
    packet.va += offset;
    packet.dma_bytes -= offset;
  }
  packet.swap_add = decoded.swap_add;
  packet.compare_high = static_cast<std::uint32_t>(decoded.compare >> 32);
  packet.compare_low = static_cast<std::uint32_t>(decoded.compare);
  const auto every = std::min(1u << qp.attributes.log_ack_req_freq, window_packets(qp, wqe.bytes) / 4);
  const bool due = ++requester.unacked_since_request >= every;
  packet.ack_request = (last || due) && !is_unreliable(qp.config.service);
  if (packet.ack_request) requester.unacked_since_request = 0;
  trace_sent(TraceEvent::Kind::kPacketSent, qp.config.qpn, packet, static_cast<std::uint8_t>(packet.opcode));
  if (wqe.opcode == Opcode::kSendInvalidate) packet.rkey = decoded.ctrl.imm.host();
  if (wqe.opcode == Opcode::kMaskedCompareSwap) {
    std::memcpy(packet.payload(), &decoded.swap_mask, sizeof decoded.swap_mask);
    std::memcpy(packet.payload() + 8, &decoded.compare_mask, sizeof decoded.compare_mask);
    return true;
  }
  return gather(decoded, offset, {packet.payload(), packet.payload_bytes});
}

// Payload bytes [offset, offset + to.size()) of the message.
bool DataPath::gather(const DecodedWqe& wqe, std::uint32_t offset, std::span<std::byte> to) {
  if (wqe.is_inline) {
    std::copy_n(wqe.inline_bytes.data() + offset, to.size(), to.data());
    return true;
  }
  return for_each_piece(device_, {wqe.span.data(), wqe.spans}, offset, static_cast<std::uint32_t>(to.size()),
                        [to](const std::byte* from, std::uint32_t at, std::uint32_t bytes) {
                          return dma::copy(to.data() + at, from, bytes);
                        });
}

void DataPath::arm_timer(Qp& qp) {
  if (qp.requester.deadline == Time{0}) qp.requester.deadline = now_ + ack_timeout(qp.attributes);
}

}  // namespace marrow::cx7
