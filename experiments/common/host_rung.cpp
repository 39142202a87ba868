// SPDX-License-Identifier: Apache-2.0
// See host_rung.h. Each word has a line of its own. The thread spins where it has a core to itself.
#include "experiments/common/host_rung.h"

#include "marrow/gda/host_ringer.h"

namespace marrow::experiments {
namespace {

constexpr std::size_t kLine = 64;

}  // namespace

HostRung::HostRung(const Context& context, const std::vector<gda::Qp>& queues, const verbs::MemorySource& words)
    : words_(verbs::take(words, queues.size() * kLine)) {
  for (std::size_t i = 0; i < queues.size(); ++i) ringer_.add(queues[i], word(i));
  constexpr unsigned kLaneAndRinger = 2;
  ringer_.start(is_crowded(context, kLaneAndRinger) ? gda::HostRinger::Idle::kNap : gda::HostRinger::Idle::kSpin);
}

std::uint64_t& HostRung::word(std::size_t i) const {
  return *reinterpret_cast<std::uint64_t*>(words_->data() + i * kLine);
}

gda::Qp HostRung::forwarded(gda::Qp lanes, std::size_t i) const {
  lanes.doorbell = &word(i);
  lanes.doorbell_mapping = gda::DoorbellMapping::kForwarded;
  return lanes;
}

void HostRung::finish(measure::Record& record) {
  ringer_.stop();
  record.expectations.push_back({"the host rang for every announcement", ringer_.refused() == 0});
}

}  // namespace marrow::experiments
