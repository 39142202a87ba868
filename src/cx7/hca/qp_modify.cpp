// SPDX-License-Identifier: Apache-2.0
// The QP's state machine: which transition is legal, what it needs, and what it starts afresh.
// Facts: states and transitions [prm: IBA vol. 1, 10.3; mlx5 QPC]; that RST needs a zero record [prm].
#include <bit>

#include "cx7/fabric/device_faults.h"
#include "cx7/hca/data_path.h"
#include "cx7/hca/neighbours.h"

namespace marrow::cx7 {
namespace {

bool is_legal(QpState from, QpState to) {
  if (to == QpState::kReset || to == QpState::kError) return true;
  switch (from) {
    case QpState::kReset:
      return to == QpState::kInit;
    case QpState::kInit:
      return to == QpState::kInit || to == QpState::kRtr;
    case QpState::kRtr:
      return to == QpState::kRts;
    case QpState::kRts:
    case QpState::kSqer:
      return to == QpState::kRts;
    default:
      return false;
  }
}

bool is_complete(QpState to, const QpAttributes& attributes) {
  if (to != QpState::kRtr) return true;
  const bool mtu =
      std::has_single_bit(attributes.mtu_bytes) && attributes.mtu_bytes >= 256 && attributes.mtu_bytes <= kMaxMtu;
  return mtu && attributes.responder_reads <= kMaxResources;
}

void start_responder(Qp& qp) {
  qp.responder = {};
  qp.responder.srq = qp.config.srq;
  qp.responder.expected_psn = qp.attributes.recv_psn;
}

void start_as_faults_say(const DeviceFaults& faults, Qp& qp, QpState to) {
  const auto psn = faults.first_psn();
  if (!psn) return;
  if (to == QpState::kRtr) qp.attributes.recv_psn = *psn;
  if (to == QpState::kRts && qp.state == QpState::kRtr) qp.attributes.send_psn = *psn;
}

void start_requester(Qp& qp) {
  auto& requester = qp.requester;
  requester.next_psn = qp.attributes.send_psn;
  requester.acked_psn = psn_add(qp.attributes.send_psn, 0xffffff);
  requester.retries_left = qp.attributes.retry_count;
  requester.rnr_left = qp.attributes.rnr_retry;
}

void reset(Qp& qp) {
  qp.responder = {};
  auto window = std::move(qp.requester.window);
  qp.requester = {};
  qp.requester.window = std::move(window);
  qp.requester.window_mask = static_cast<std::uint32_t>(qp.requester.window.size()) - 1;
  const auto device = qp.attributes.device;
  qp.attributes = {};
  qp.attributes.device = device;
  if (qp.dci != nullptr) *qp.dci = {};
}

}  // namespace

Engine::Modify Engine::modify_qp(Device& device, Qp& qp, QpState to, const QpAttributes& attributes) {
  refresh(qp);
  const Modify result = change_state(device, qp, to, attributes);
  if (result != Modify::kOk) return result;
  if (gpu_ != nullptr) gpu_->qp_changed(qp);
  neighbours_->qp_changed(qp);
  return result;
}

Engine::Modify Engine::change_state(Device& device, Qp& qp, QpState to, const QpAttributes& attributes) {
  if (!is_legal(qp.state, to)) return Modify::kBadState;
  if (!is_complete(to, attributes)) return Modify::kBadAttribute;
  if (to == QpState::kReset) {
    DataPath path(*this, device, last_step_);
    path.write_held(qp.config.send_cq);
    path.write_held(qp.config.recv_cq);
    path.disconnect(qp);
    reset(qp);
    qp.state = to;
    return Modify::kOk;
  }
  if (to == QpState::kError && qp.on_gpu) {  // who moves its queue also flushes it
    qp.state = to;
    return Modify::kOk;
  }
  if (to == QpState::kError) {
    DataPath(*this, device, last_step_).enter_error(qp);
    return Modify::kOk;
  }
  qp.attributes = attributes;
  qp.attributes.device = device.index;
  if (auto* const faults = fabric_.device_faults()) start_as_faults_say(*faults, qp, to);
  if (to == QpState::kRtr) start_responder(qp);
  if (to == QpState::kRts && qp.state == QpState::kRtr) {
    start_requester(qp);
    const bool acknowledged = qp.config.service == ServiceType::kRc || qp.config.service == ServiceType::kXrc;
    if (acknowledged) qp.requester.window_bytes = fabric_.window_bytes(route_of(qp));
  }
  qp.state = to;
  if (to == QpState::kRts && !qp.on_gpu) DataPath(*this, device, last_step_).mark_ready(qp);
  return Modify::kOk;
}

}  // namespace marrow::cx7
