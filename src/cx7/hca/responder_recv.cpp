// SPDX-License-Identifier: Apache-2.0
// Part of stop 7: sends and writes with immediate take a receive WQE, fill it and complete it.
// Facts: receive WQE is a scatter list ended by the invalid lkey [dv]; counters of the RQ [prm].
#include <algorithm>
#include <array>
#include <numeric>

#include "cx7/hca/data_path.h"
#include "cx7/hca/memory.h"
#include "cx7/hca/request_table.h"

namespace marrow::cx7 {

// Claims the next receive WQE for this message and reads its scatter list. False: none is posted.
bool DataPath::take_recv_wqe(Qp& qp) {
  auto& responder = qp.responder;
  if (responder.recv_wqe_taken) return true;
  std::uint32_t word = 0;
  if (qp.config.rq.entries == 0 || !dma::load32(&qp.config.dbrec->receive, word)) return false;
  const auto posted = static_cast<std::uint16_t>(wire::swap_bytes(word));
  if (posted == static_cast<std::uint16_t>(responder.recv_index)) return false;

  std::array<wire::DataSegment, kMaxSpans> list;
  const auto segments = std::min<std::size_t>(qp.config.rq.stride_bytes / wire::kDsBytes, kMaxSpans);
  responder.recv_wqe_taken = true;
  responder.spans = 0;
  Refusal refusal{};
  if (!dma::copy(list.data(), qp.config.rq.at(responder.recv_index), segments * wire::kDsBytes)) {
    refusal = {wire::Syndrome::kLocalProtection, 0x51};
  }
  for (std::size_t k = 0; k < segments && !refusal; ++k) {
    const auto& data = list[k];
    const auto bytes = data.byte_count.host();
    if (bytes == 0 && data.lkey.host() == wire::kInvalidLkey) break;  // end of the list
    if (bytes == 0) continue;
    std::byte* const host = resolve(device_, {data.lkey.host(), qp.config.pdn, kLocalWrite, data.addr.host(), bytes});
    if (host == nullptr) refusal = {wire::Syndrome::kLocalProtection, 0x51};
    responder.span[responder.spans++] = {host, bytes, data.lkey.host()};
  }
  if (refusal) {
    Packet at;
    at.psn = responder.expected_psn;
    refuse_recv(qp, at, refusal);
  }
  return true;
}

// This side's own fault: the receive completes in error here, and the sender learns that the operation failed.
void DataPath::refuse_recv(Qp& qp, const Packet& packet, const Refusal& refusal) {
  auto& responder = qp.responder;
  ++device_.counters.local_protection_errors;
  write_cqe(*qp.config.recv_cq, {.opcode = wire::CqeOpcode::kResponderError,
                                 .qpn = qp.config.qpn,
                                 .user_index = qp.config.user_index,
                                 .wqe_counter = static_cast<std::uint16_t>(responder.recv_index++),
                                 .syndrome = refusal.syndrome,
                                 .vendor = refusal.vendor});
  const bool length = refusal.syndrome == wire::Syndrome::kLocalLength;
  nak(qp, packet, length ? aeth::kNakInvalidRequest : aeth::kNakRemoteOperation);
}

bool DataPath::scatter_recv(Qp& qp, const Packet& packet) {
  auto& responder = qp.responder;
  const std::span<const Span> list{responder.span.data(), responder.spans};
  const auto capacity = std::accumulate(list.begin(), list.end(), std::uint64_t{0},
                                        [](std::uint64_t sum, const Span& span) { return sum + span.bytes; });
  if (std::uint64_t{responder.received} + packet.payload_bytes > capacity) {
    refuse_recv(qp, packet, {wire::Syndrome::kLocalLength, 0});
    return false;
  }
  const bool copied = for_each_piece(list, responder.received, packet.payload_bytes,
                                     [&packet](std::byte* to, std::uint32_t at, std::uint32_t bytes) {
                                       return dma::copy(to, packet.payload() + at, bytes);
                                     });
  if (!copied) refuse_recv(qp, packet, {wire::Syndrome::kLocalProtection, 0x51});
  return copied;
}

void DataPath::finish_recv(Qp& qp, const Packet& packet) {
  auto& responder = qp.responder;
  const auto& row = row_of(packet.opcode);
  const auto opcode = row.kind == RequestKind::kWrite ? wire::CqeOpcode::kRecvWriteImm
                      : row.imm                       ? wire::CqeOpcode::kRecvSendImm
                                                      : wire::CqeOpcode::kRecvSend;
  write_cqe(*qp.config.recv_cq, {.opcode = opcode,
                                 .qpn = qp.config.qpn,
                                 .user_index = qp.config.user_index,
                                 .wqe_counter = static_cast<std::uint16_t>(responder.recv_index++),
                                 .byte_count = responder.received,
                                 .imm = row.imm ? packet.imm : 0,
                                 .solicited = packet.solicited});
  responder.recv_wqe_taken = false;
  if (qp.config.recv_cq->dead) enter_error(qp);
}

}  // namespace marrow::cx7
