// SPDX-License-Identifier: Apache-2.0
// See held_cqes.h. What waits is written when it is due, and before its queue pair or its CQ's memory goes.
#include "cx7/hca/held_cqes.h"

#include <iterator>

#include "cx7/fabric/device_faults.h"

namespace marrow::cx7 {

bool DataPath::hold_cqe(Cq& cq, const CqeContent& content) {
  auto& held = *engine_.held_cqes_;
  const auto* const before = held.last_of(cq);
  const Time late = engine_.fabric_.device_faults()->holds_cqe();
  if (late == Time{0} && before == nullptr) return false;
  const Time due = before == nullptr ? now_ + late : std::max(before->due, now_ + late);
  held.add({.cq = &cq, .device = device_.index, .due = due, .content = content});
  ++engine_.fabric_.device_faults()->counters().faults_cqes_held;
  return true;
}

void DataPath::write_held(const Cq* cq) {
  if (engine_.held_cqes_ == nullptr || cq == nullptr) return;
  for (const auto& held : engine_.held_cqes_->take([cq](const auto& one) { return one.cq == cq; })) {
    put_cqe(*held.cq, held.content);
  }
}

bool Engine::write_due(Time now) {
  for (const auto& held : held_cqes_->take([now](const auto& one) { return one.due <= now; })) {
    DataPath(*this, *devices_[held.device], now).put_cqe(*held.cq, held.content);
  }
  return !held_cqes_->empty();
}

}  // namespace marrow::cx7
