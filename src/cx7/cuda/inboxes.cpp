// SPDX-License-Identifier: Apache-2.0
// See inboxes.h.
#include "cx7/cuda/inboxes.h"

#include "cx7/cuda/table_memory.cuh"

namespace marrow::cx7::cuda {

std::uint32_t Inboxes::open(const Seat& seat, Inbox entry, std::uint64_t id, Cq& cq) {
  auto& tables = memory_.there();
  auto kept = kept_.find(id);
  if (kept == kept_.end()) {
    if (taken_.all()) return 0;
    std::uint32_t index = 0;
    while (taken_.test(index)) ++index;
    taken_.set(index);
    kept = kept_.emplace(id, KeptCq{.index = index, .cq = &cq}).first;
    const unsigned long long written = cq.pi;
    memory_.write(tables.recv_cqes[index], written);
  }
  ++kept->second.users;
  entry.cqes = &tables.recv_cqes[kept->second.index];
  const std::uint32_t number = seat.warp * kLanes + seat.lane + 1;
  memory_.write(tables.inboxes[number], entry);
  cq_of_[number] = id;
  return number;
}

void Inboxes::reset(std::uint32_t number) {
  const std::uint32_t none = 0;
  if (number != 0) memory_.write(memory_.there().inboxes[number].taken, none);
}

void Inboxes::set_pause(std::uint32_t number, std::uint32_t us) {
  if (number != 0) memory_.write(memory_.there().inboxes[number].rnr_pause_us, us);
}

void Inboxes::close(std::uint32_t number) {
  const auto of = cq_of_.find(number);
  if (of == cq_of_.end()) return;
  const auto kept = kept_.find(of->second);
  cq_of_.erase(of);
  memory_.write(memory_.there().inboxes[number], Inbox{});
  KeptCq& cq = kept->second;
  if (--cq.users != 0) return;
  unsigned long long written = 0;
  memory_.read(&written, &memory_.there().recv_cqes[cq.index], sizeof written);
  cq.cq->pi = written;
  taken_.reset(cq.index);
  kept_.erase(kept);
}

}  // namespace marrow::cx7::cuda
