// SPDX-License-Identifier: Apache-2.0
// Stop 8 of 9 (docs/one-message.md). In: an ACK, a NAK or a response. Out: retired WQEs and their CQEs, or a QP in
// error. Facts: what an ACK covers, NAK codes, retry rules [prm: IBA vol. 1, 9.7.5-9.7.8]; vendor bytes [obs: CX-6].
#include <algorithm>

#include "cx7/hca/data_path.h"
#include "cx7/hca/memory.h"
#include "cx7/hca/timing.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

using wire::Opcode;
using wire::Syndrome;

Refusal refusal_of_nak(std::uint8_t syndrome) {
  switch (syndrome) {
    case aeth::kNakInvalidRequest:
      return {Syndrome::kRemoteInvalidRequest, 0x8a};
    case aeth::kNakRemoteAccess:
      return {Syndrome::kRemoteAccess, 0x88};
    case aeth::kNakRemoteOperation:
      return {Syndrome::kRemoteOperation, 0x89};
    default:
      return {Syndrome::kBadResponse, 0};
  }
}

}  // namespace

void DataPath::on_response(Qp& qp, const Packet& packet) {
  auto& requester = qp.requester;
  const bool from_peer = packet.from_device == qp.attributes.remote_device;
  const bool outstanding = requester.oldest != requester.newest && psn_distance(packet.psn, requester.next_psn) < 0 &&
                           psn_distance(packet.psn, window_at(requester, requester.oldest).first_psn) >= 0;
  const bool nak = operation_of(packet.opcode) == PacketOpcode::kAcknowledge && packet.syndrome >= aeth::kRnrNak;
  if (qp.state != QpState::kRts || !from_peer || (!outstanding && !nak)) {
    ++device_.counters.packets_dropped;
    return;
  }
  if (is_tracing()) [[unlikely]]
    add_to_trace({.kind = TraceEvent::Kind::kAckReceived,
                  .opcode = static_cast<std::uint8_t>(packet.opcode),
                  .peer = packet.from_device,
                  .qpn = qp.config.qpn,
                  .a = qp.config.qpn,
                  .b = packet.psn,
                  .c = packet.syndrome});
  switch (operation_of(packet.opcode)) {
    case PacketOpcode::kAcknowledge:
      on_ack(qp, packet);
      break;
    case PacketOpcode::kAtomicAcknowledge:
      on_atomic_response(qp, packet);
      break;
    default:
      on_read_response(qp, packet);
      break;
  }
  settle_failure(qp);
  if (qp.state == QpState::kRts) mark_ready(qp);
}

void DataPath::on_ack(Qp& qp, const Packet& packet) {
  auto& requester = qp.requester;
  if (packet.syndrome < aeth::kRnrNak) {
    retire_through(qp, packet.psn);
    return;
  }
  retire_through(qp, psn_add(packet.psn, 0xffffff));
  if (requester.oldest == requester.newest) return;  // a NAK for what is no longer outstanding
  if (packet.syndrome < aeth::kNakSequence) {
    constexpr std::uint8_t kForEver = 7;
    ++device_.counters.rnr_naks_received;
    if (requester.rnr_left == 0) return fail_oldest(qp, {Syndrome::kRnrRetryExceeded, 0x87});
    if (qp.attributes.rnr_retry != kForEver) --requester.rnr_left;
    requester.held_until = now_ + rnr_pause(packet.syndrome & 0x1f);
    requester.deadline = Time{0};
    rewind(qp);
  } else if (packet.syndrome == aeth::kNakSequence) {
    ++device_.counters.sequence_naks_received;
    if (requester.held_until > now_) return;  // a leftover of the burst that met a receiver not ready
    if (requester.retries_left == 0) return fail_oldest(qp, {Syndrome::kRetryExceeded, 0x81});
    --requester.retries_left;
    rewind(qp);
  } else {
    fail_oldest(qp, refusal_of_nak(packet.syndrome));
  }
}

// The read or atomic that this response must belong to: the oldest one without an answer. A response also
// acknowledges every request before it.
SentWqe* DataPath::awaited_response(Qp& qp, const Packet& packet) {
  auto& requester = qp.requester;
  for (auto at = requester.oldest; at != requester.newest; ++at) {
    SentWqe& wqe = window_at(requester, at);
    if (!awaits_response(wqe.opcode) || wqe.answered) continue;
    const auto ahead = psn_distance(packet.psn, psn_add(wqe.first_psn, wqe.received));
    if (ahead > 0) ++device_.counters.responses_ahead;
    if (ahead != 0) return nullptr;
    retire_through(qp, psn_add(wqe.first_psn, 0xffffff));
    const bool cached = requester.scatter_valid && requester.scatter_entry == at;
    if (!cached) {
      if (const auto refusal = decode(qp, wqe.index, requester.scatter)) {
        refuse(qp, {true, wqe.index, wqe.opcode, refusal.syndrome, refusal.vendor});
        return nullptr;
      }
      requester.scatter_valid = true;
      requester.scatter_entry = at;
    }
    return &wqe;
  }
  return nullptr;
}

void DataPath::on_read_response(Qp& qp, const Packet& packet) {
  auto& requester = qp.requester;
  SentWqe* wqe = awaited_response(qp, packet);
  if (wqe == nullptr || wqe->opcode != Opcode::kRead) {
    ++device_.counters.packets_dropped;
    return;
  }
  const auto offset = wqe->received * qp.attributes.mtu_bytes;
  const auto due = std::min(qp.attributes.mtu_bytes, wqe->bytes - offset);
  if (packet.payload_bytes != due) return fail_oldest(qp, {Syndrome::kBadResponse, 0});
  const bool copied = for_each_piece(device_, {requester.scatter.span.data(), requester.scatter.spans}, offset, due,
                                     [&packet](std::byte* to, std::uint32_t at, std::uint32_t bytes) {
                                       return dma::copy(to, packet.payload() + at, bytes);
                                     });
  if (!copied) return refuse(qp, {true, wqe->index, wqe->opcode, Syndrome::kLocalProtection, 0x51});
  device_.counters.payload_bytes_received += packet.payload_bytes;
  if (++wqe->received == wqe->packets) {
    wqe->answered = true;
    requester.scatter_valid = false;
    --requester.reads_out;
  }
  retire_through(qp, packet.psn);
}

void DataPath::on_atomic_response(Qp& qp, const Packet& packet) {
  auto& requester = qp.requester;
  SentWqe* wqe = awaited_response(qp, packet);
  if (wqe == nullptr || wqe->opcode == Opcode::kRead) {
    ++device_.counters.packets_dropped;
    return;
  }
  // Host byte order: the device reports the endianness mode in which 8-byte results are native [prm: atomic caps].
  // 4-byte results are big-endian whatever the mode [obs: UCX].
  std::uint64_t result = packet.swap_add;
  if (wqe->bytes == 4) result = wire::be32(static_cast<std::uint32_t>(packet.swap_add)).raw;
  const auto* const from = reinterpret_cast<const std::byte*>(&result);
  const bool copied = for_each_piece(
      device_, {requester.scatter.span.data(), 1}, 0, wqe->bytes,
      [from](std::byte* to, std::uint32_t at, std::uint32_t bytes) { return dma::copy(to, from + at, bytes); });
  if (!copied) {
    return refuse(qp, {true, wqe->index, wqe->opcode, Syndrome::kLocalProtection, 0x51});
  }
  wqe->received = 1;
  wqe->answered = true;
  requester.scatter_valid = false;
  --requester.reads_out;
  retire_through(qp, packet.psn);
}

// An ACK covers every request up to `psn`, but no read or atomic whose response has not come.
void DataPath::retire_through(Qp& qp, std::uint32_t psn) {
  auto& requester = qp.requester;
  if (psn_distance(psn, requester.acked_psn) > 0) {
    requester.acked_psn = psn;
    requester.retries_left = qp.attributes.retry_count;
    requester.rnr_left = qp.attributes.rnr_retry;
    requester.deadline = requester.deadline == Time{0} ? Time{0} : now_ + ack_timeout(qp.attributes);
  }
  progress(qp);
}

// Retires from the oldest on, as far as acknowledged.
void DataPath::progress(Qp& qp) {
  auto& requester = qp.requester;
  while (requester.oldest != requester.newest) {
    const SentWqe wqe = window_at(requester, requester.oldest);
    const bool nop = wqe.packets == 0;
    if (nop && requester.sending == requester.oldest) break;  // not passed yet
    if (!nop && psn_distance(wqe.last_psn(), requester.acked_psn) > 0) break;
    if (awaits_response(wqe.opcode) && !wqe.answered) break;
    if (requester.sending == requester.oldest) {  // acknowledged while it was being sent again
      ++requester.sending;
      requester.sending_packet = 0;
      requester.decoded_valid = false;
    }
    ++requester.oldest;
    requester.done += wqe.wqebbs;
    retire(qp, wqe);
  }
  if (requester.oldest == requester.newest) requester.deadline = Time{0};
}

void DataPath::trace_retired(const Qp& qp, const SentWqe& wqe, wire::Syndrome syndrome) {
  if (is_tracing()) [[unlikely]]
    add_to_trace({.kind = TraceEvent::Kind::kRetired,
                  .qpn = qp.config.qpn,
                  .a = qp.config.qpn,
                  .b = wqe.index,
                  .c = static_cast<std::uint8_t>(syndrome)});
}

void DataPath::retire(Qp& qp, const SentWqe& wqe) {
  trace_retired(qp, wqe, Syndrome::kNone);
  if (wqe.completion < wire::Completion::kAlways) return;
  write_cqe(*qp.config.send_cq, {.opcode = wire::CqeOpcode::kRequester,
                                 .wqe_opcode = wqe.opcode,
                                 .qpn = qp.config.qpn,
                                 .user_index = qp.config.user_index,
                                 .wqe_counter = wqe.index,
                                 .byte_count = wqe.bytes});
  if (qp.config.send_cq->dead) lose_cq(qp);
}

// Goes back to the first packet that the peer has not acknowledged.
void DataPath::rewind(Qp& qp) {
  auto& requester = qp.requester;
  requester.sending = requester.oldest;
  requester.sending_packet = 0;
  requester.decoded_valid = false;
  if (requester.oldest == requester.newest) return;
  if (qp.dci != nullptr) qp.dci->connect_due = true;  // the DCT may never have heard of it
  ++device_.counters.retransmissions;
  const SentWqe& wqe = window_at(requester, requester.oldest);
  if (wqe.opcode == Opcode::kRead) {
    requester.sending_packet = wqe.received;
  } else if (wqe.packets > 1) {
    const auto acked = psn_distance(psn_add(requester.acked_psn, 1), wqe.first_psn);
    requester.sending_packet = acked > 0 ? static_cast<std::uint32_t>(acked) : 0;
  }
}

void DataPath::on_timer(Qp& qp) {
  auto& requester = qp.requester;
  if (requester.held_until != Time{0} && requester.held_until <= now_) mark_ready(qp);
  if (qp.state != QpState::kRts || requester.deadline == Time{0} || now_ < requester.deadline) return;
  ++device_.counters.timeouts;
  if (requester.retries_left == 0) return fail_oldest(qp, {Syndrome::kRetryExceeded, 0x81});
  --requester.retries_left;
  requester.deadline = now_ + ack_timeout(qp.attributes);
  rewind(qp);
  mark_ready(qp);
}

void DataPath::settle_failure(Qp& qp) {
  auto& requester = qp.requester;
  if (!requester.failure.pending) return;
  const bool in_window = requester.oldest != requester.newest;
  if (in_window && window_at(requester, requester.oldest).index != requester.failure.index) return;
  const auto failure = requester.failure;
  requester.failure.pending = false;
  if (!in_window) {  // refused at fetch: it never entered the window
    const auto wqebbs = std::clamp(requester.decoded.wqebbs, 1u, requester.posted - requester.next);
    window_at(requester, requester.newest++) = {
        .index = failure.index, .wqebbs = static_cast<std::uint8_t>(wqebbs), .opcode = failure.opcode};
    requester.next += wqebbs;
  }
  fail_oldest(qp, {failure.syndrome, failure.vendor});
}

void DataPath::fail_oldest(Qp& qp, const Refusal& refusal) {
  auto& requester = qp.requester;
  const SentWqe wqe = window_at(requester, requester.oldest);
  ++requester.oldest;
  requester.done += wqe.wqebbs;
  trace_retired(qp, wqe, refusal.syndrome);
  if (refusal.syndrome == Syndrome::kRemoteAccess) ++device_.counters.remote_access_errors;
  if (refusal.syndrome == Syndrome::kRemoteInvalidRequest) ++device_.counters.remote_invalid_requests;
  util::log::debug("QP {:#x}: WQE {} failed: {}", qp.config.qpn, wqe.index, wire::syndrome_name(refusal.syndrome));
  write_cqe(*qp.config.send_cq, {.opcode = wire::CqeOpcode::kRequesterError,
                                 .wqe_opcode = wqe.opcode,
                                 .qpn = qp.config.qpn,
                                 .user_index = qp.config.user_index,
                                 .wqe_counter = wqe.index,
                                 .syndrome = refusal.syndrome,
                                 .vendor = refusal.vendor});
  enter_send_error(qp);
}

}  // namespace marrow::cx7
