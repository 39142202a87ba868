// SPDX-License-Identifier: Apache-2.0
// Part of stop 7: sends, datagrams and writes with immediate take a receive WQE, fill it and complete it. The WQE comes
// from the QP's own ring or from the chain of a shared one.
// Facts: receive WQE is a scatter list ended by the invalid lkey, in an SRQ behind a segment that names the next slot
// [dv]; counters of both queues, XRC's CQ and domain [prm].
#include <algorithm>
#include <array>
#include <numeric>

#include "cx7/fabric/device_faults.h"
#include "cx7/hca/data_path.h"
#include "cx7/hca/memory.h"
#include "cx7/hca/request_table.h"

namespace marrow::cx7 {
namespace {

constexpr std::size_t kNextSlotAt = 2;  // in the segment that begins an SRQ's WQE, 16 bits

/// A receive WQE that was found: its scatter list, and the number by which its CQE names it.
struct RecvWqe {
  const std::byte* list = nullptr;  // null: none is posted
  std::size_t segments = 0;
  std::uint16_t counter = 0;
};

bool posted_since(const wire::be32* record, std::uint16_t taken, std::uint16_t& left) {
  std::uint32_t word = 0;
  if (!dma::load32(record, word)) return false;
  left = static_cast<std::uint16_t>(static_cast<std::uint16_t>(wire::swap_bytes(word)) - taken);
  return left != 0;
}

RecvWqe next_of_ring(const Qp& qp) {
  const auto& rq = qp.config.rq;
  const auto index = static_cast<std::uint16_t>(qp.responder.recv_index);
  std::uint16_t left = 0;
  if (rq.entries == 0 || !posted_since(&qp.config.dbrec->receive, index, left)) return {};
  return {rq.at(index), std::min<std::size_t>(rq.stride_bytes / wire::kDsBytes, kMaxSpans), index};
}

void watch_limit(Srq& srq, std::uint32_t left) {
  if (left >= srq.limit) return;
  srq.limit = 0;
  if (srq.events != nullptr) srq.events->async_event(AsyncEvent::kSrqLimit);
}

// The slot behind `wqe`. False: its memory is gone.
bool slot_after(const Srq& srq, const std::byte* wqe, std::uint16_t& slot) {
  wire::be16 next(static_cast<std::uint16_t>(srq.taken + 1));
  if (!srq.cyclic && !dma::copy(&next, wqe + kNextSlotAt, sizeof next)) return false;
  slot = static_cast<std::uint16_t>(next.host() & (srq.entries - 1));
  return true;
}

RecvWqe next_of_shared(Srq& srq) {
  std::uint16_t left = 0;
  if (srq.dead || srq.base == nullptr || !posted_since(srq.dbrec, srq.taken, left)) return {};
  const std::uint16_t slot = srq.next;
  const std::byte* const wqe = srq.base + std::size_t{slot} * srq.stride_bytes;
  if (!slot_after(srq, wqe, srq.next)) {
    srq.dead = true;
    if (srq.events != nullptr) srq.events->async_event(AsyncEvent::kSrqError);
    return {};
  }
  ++srq.taken;
  watch_limit(srq, left - 1u);
  const auto segments = (srq.stride_bytes - srq.header_bytes) / wire::kDsBytes;
  return {wqe + srq.header_bytes, std::min<std::size_t>(segments, kMaxSpans), slot};
}

}  // namespace

// Claims the next receive WQE for this message and reads its scatter list.
DataPath::Taken DataPath::take_recv_wqe(Qp& qp) {
  auto& responder = qp.responder;
  if (responder.recv_wqe_taken) return Taken::kYes;
  if (auto* const faults = engine_.fabric_.device_faults()) [[unlikely]] {
    if (!is_unreliable(qp.config.service) && faults->withholds_receive(now_)) return Taken::kNone;
  }
  const auto wqe = responder.srq != nullptr ? next_of_shared(*responder.srq) : next_of_ring(qp);
  if (wqe.list == nullptr) return Taken::kNone;
  responder.recv_wqe_taken = true;
  responder.recv_counter = wqe.counter;
  responder.spans = 0;
  std::array<wire::DataSegment, kMaxSpans> list;
  bool good = dma::copy(list.data(), wqe.list, wqe.segments * wire::kDsBytes);
  for (std::size_t k = 0; k < wqe.segments && good; ++k) {
    const auto bytes = list[k].byte_count.host();
    const auto key = list[k].lkey.host();
    if (bytes == 0 && key == wire::kInvalidLkey) break;  // end of the list
    if (bytes == 0) continue;
    const Span span = resolve(device_, {key, pdn_of(qp), kLocalWrite, list[k].addr.host(), bytes});
    good = static_cast<bool>(span);
    responder.span[responder.spans++] = span;
  }
  if (good) return Taken::kYes;
  refuse_recv(qp, {wire::Syndrome::kLocalProtection, 0x51});
  return Taken::kRefused;
}

void DataPath::complete_recv(Qp& qp, CqeContent content) {
  auto& responder = qp.responder;
  const bool xrc = qp.config.service == ServiceType::kXrc;
  content.qpn = qp.config.qpn;
  content.user_index = xrc ? responder.srq->user_index : qp.config.user_index;
  content.wqe_counter = responder.recv_counter;
  responder.recv_wqe_taken = false;
  if (responder.srq == nullptr) ++responder.recv_index;
  write_cqe(*recv_cq_of(qp), content);
}

// This side's own fault: the receive completes in error here, and the sender learns that the operation failed.
void DataPath::refuse_recv(Qp& qp, const Refusal& refusal) {
  const bool length = refusal.syndrome == wire::Syndrome::kLocalLength;
  ++(length ? device_.counters.receives_too_short : device_.counters.local_protection_errors);
  complete_recv(qp,
                {.opcode = wire::CqeOpcode::kResponderError, .syndrome = refusal.syndrome, .vendor = refusal.vendor});
  if (is_unreliable(qp.config.service)) return enter_error(qp);
  qp.responder.recv_failed = true;
  nak(qp, qp.responder.expected_psn, length ? aeth::kNakInvalidRequest : aeth::kNakRemoteOperation);
}

// Bytes of the message that came before this packet stand in responder.received.
bool DataPath::scatter_recv(Qp& qp, const Packet& packet) {
  auto& responder = qp.responder;
  const std::span<const Span> list{responder.span.data(), responder.spans};
  const auto capacity = std::accumulate(list.begin(), list.end(), std::uint64_t{0},
                                        [](std::uint64_t sum, const Span& span) { return sum + span.bytes; });
  if (std::uint64_t{responder.received} + packet.payload_bytes > capacity) {
    refuse_recv(qp, {wire::Syndrome::kLocalLength, 0});
    return false;
  }
  const bool copied = for_each_piece(device_, list, responder.received, packet.payload_bytes,
                                     [&packet](std::byte* to, std::uint32_t at, std::uint32_t bytes) {
                                       return dma::copy(to, packet.payload() + at, bytes);
                                     });
  if (!copied) refuse_recv(qp, {wire::Syndrome::kLocalProtection, 0x51});
  return copied;
}

void DataPath::finish_recv(Qp& qp, const Packet& packet) {
  const auto& row = row_of(packet.opcode);
  const auto opcode = row.kind == RequestKind::kWrite ? wire::CqeOpcode::kRecvWriteImm
                      : row.invalidate                ? wire::CqeOpcode::kRecvSendInvalidate
                      : row.imm                       ? wire::CqeOpcode::kRecvSendImm
                                                      : wire::CqeOpcode::kRecvSend;
  const std::uint32_t imm = row.invalidate ? wire::be32(packet.rkey).raw : row.imm ? packet.imm : 0;
  complete_recv(qp, {.opcode = opcode, .byte_count = qp.responder.received, .imm = imm, .solicited = packet.solicited});
  if (recv_cq_of(qp)->dead) lose_cq(qp);
}

}  // namespace marrow::cx7
