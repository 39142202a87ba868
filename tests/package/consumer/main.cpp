// SPDX-License-Identifier: Apache-2.0
// Another project's use of mini-gda: a queue in plain memory, one write, the bytes that a NIC would read.
#include <cstdio>
#include <vector>

#include "marrow/gda/send_queue.h"

namespace gda = marrow::gda;
namespace wire = marrow::wire;

int main() {
  alignas(64) static std::byte sq[64 * wire::kWqebbBytes];
  alignas(64) static std::byte cq[wire::kCqeBytes];
  wire::QpDbrec dbrec{};
  std::uint64_t doorbell = 0;
  gda::QpCounters counters;
  const std::uint64_t value = 42;
  {
    gda::SendQueue<gda::GpuFence> queue({.sq = sq,
                                         .sq_wqebbs = 64,
                                         .qpn = 0x41,
                                         .dbrec_send = &dbrec.send,
                                         .doorbell = &doorbell,
                                         .cq = cq,
                                         .counters = &counters});
    const gda::Solo team;
    const auto slots = queue.reserve(team, 1);
    queue.write(slots[0], {.to = {0x1000, 7}, .from = {reinterpret_cast<std::uint64_t>(&value), 0}, .bytes = 8});
    if (queue.submit(team, slots).status != gda::Status::kOk) return 1;
  }
  const bool posted = dbrec.send.host() == 1 && doorbell == wire::doorbell_word(0x41, 1) && counters.pi == 1;
  std::puts(posted ? "posted" : "not posted");
  return posted ? 0 : 1;
}
