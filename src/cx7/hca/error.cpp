// SPDX-License-Identifier: Apache-2.0
// How a QP ends: state ERR, then one flush CQE for every WQE behind the one that failed, as far as its record says. The
// send queue of an unreliable QP ends alone: state SQE, and the QP goes on receiving. An event comes only of what no
// CQE says [prm: IBA vol. 1, 11.6.3]. Facts: flush order and vendor byte [obs: CX-6]; that the record bounds the flush
// [obs: CX-6].
#include <algorithm>

#include "cx7/hca/data_path.h"
#include "cx7/hca/memory.h"

namespace marrow::cx7 {
namespace {

constexpr std::uint8_t kFlushedBehindError = 0xf9;

bool record(const wire::be32* word, std::uint16_t& index) {
  std::uint32_t raw = 0;
  if (!dma::load32(word, raw)) return false;
  index = static_cast<std::uint16_t>(wire::swap_bytes(raw));
  return true;
}

}  // namespace

void DataPath::enter_error(Qp& qp) {
  if (qp.state == QpState::kError) return;
  qp.state = QpState::kError;
  qp.requester.deadline = Time{0};
  qp.requester.held_until = Time{0};
  qp.requester.failure.pending = false;
  flush_send(qp);
  flush_recv(qp);
  if (qp.config.srq != nullptr) tell(qp, AsyncEvent::kLastWqeReached);
}

void DataPath::tell(Qp& qp, AsyncEvent event) {
  if (qp.config.events != nullptr) qp.config.events->async_event(event);
}

// Nobody can be told of it by a CQE any more.
void DataPath::lose_cq(Qp& qp) {
  enter_error(qp);
  tell(qp, AsyncEvent::kQpFatal);
}

void DataPath::enter_send_error(Qp& qp) {
  if (!is_unreliable(qp.config.service)) return enter_error(qp);
  if (qp.state != QpState::kRts) return;
  qp.state = QpState::kSqer;
  qp.requester.failure.pending = false;
  flush_send(qp);
}

void DataPath::flush_send(Qp& qp) {
  auto& requester = qp.requester;
  std::uint16_t recorded = 0;
  if (qp.config.sq.wqebbs == 0 || !record(&qp.config.dbrec->send, recorded)) return;
  const auto end = requester.done + static_cast<std::uint16_t>(recorded - requester.done);
  if (end - requester.done > qp.config.sq.wqebbs) return;  // the record makes no sense: nothing can be said
  while (requester.done != end && !qp.config.send_cq->dead) {
    wire::CtrlSegment ctrl;
    if (!dma::copy(&ctrl, qp.config.sq.at(requester.done), sizeof ctrl)) return;
    write_cqe(*qp.config.send_cq, {.opcode = wire::CqeOpcode::kRequesterError,
                                   .wqe_opcode = ctrl.opcode(),
                                   .qpn = qp.config.qpn,
                                   .user_index = qp.config.user_index,
                                   .wqe_counter = static_cast<std::uint16_t>(requester.done),
                                   .syndrome = wire::Syndrome::kFlushed,
                                   .vendor = kFlushedBehindError});
    const auto left = end - requester.done;
    requester.done += std::clamp(wire::wqebbs_of(ctrl.ds()), 1u, left);
  }
  requester.next = requester.posted = requester.done;
  requester.oldest = requester.newest = requester.sending = 0;
  requester.reads_out = 0;
}

void DataPath::flush_recv(Qp& qp) {
  auto& responder = qp.responder;
  constexpr CqeContent kFlush{
      .opcode = wire::CqeOpcode::kResponderError, .syndrome = wire::Syndrome::kFlushed, .vendor = kFlushedBehindError};
  // Of a shared queue only the WQE whose message is under way is this QP's.
  if (responder.srq != nullptr && responder.recv_wqe_taken) complete_recv(qp, kFlush);
  std::uint16_t recorded = 0;
  if (qp.config.rq.entries == 0 || qp.config.recv_cq == nullptr) return;
  if (!record(&qp.config.dbrec->receive, recorded)) return;
  auto left = static_cast<std::uint16_t>(recorded - responder.recv_index);
  if (left > qp.config.rq.entries) return;
  for (; left != 0 && !qp.config.recv_cq->dead; --left) {
    responder.recv_counter = static_cast<std::uint16_t>(responder.recv_index);
    complete_recv(qp, kFlush);
  }
}

}  // namespace marrow::cx7
