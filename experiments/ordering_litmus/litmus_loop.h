// SPDX-License-Identifier: Apache-2.0
// The loop of ordering-litmus, on host lanes and GPU lanes. It waits for as little as it can, so that the NIC fetches
// while the lane stores. A lane that waits for each CQE then looks at the far side at once: the bytes must be there.
#pragma once

#include <cstdint>

#include "experiments/common/stamp.h"
#include "experiments/ordering_litmus/litmus_job.h"
#include "marrow/gda/send_queue.h"

namespace marrow::experiments {

/// 8-byte word `number` of the slot of the loop's put `i`.
MARROW_HD inline const std::uint64_t* far_word(const LitmusJob& job, std::uint64_t i, std::uint32_t number) {
  return reinterpret_cast<const std::uint64_t*>(job.far + i * job.bytes) + number;
}

/// The payload of the loop's put `i`, written just before it is posted and by nothing ordered before it.
MARROW_HD inline void write_source(const LitmusJob& job, std::uint64_t i) {
  const auto number = job.first + i;
  const auto at = job.from + (number & (job.sources - 1)) * job.bytes;
  auto* words = reinterpret_cast<std::uint64_t*>(at.addr);
  for (std::uint32_t w = 0; w < job.bytes / 8; ++w) words[w] = stamp_word(number, w);
}

/// Counts a CQE whose bytes were not there. Those that never come are counted at the end, as wrong payloads.
template <class Clerk>
MARROW_HD void look(Clerk& clerk, const LitmusJob& job, std::uint64_t i, LitmusReport& report) {
  constexpr std::uint64_t kLimitNs = 20'000;
  const std::uint32_t last = job.bytes / 8 - 1;
  const auto expected = stamp_word(job.first + i, last);
  ++report.cqes;
  if (clerk.poll(far_word(job, i, last)) == expected) return;
  gda::SpinLimit limit(kLimitNs);
  while (!limit.expired()) {
    if (clerk.poll(far_word(job, i, last)) != expected) continue;
    ++report.early;
    return;
  }
}

template <gda::PolicyType P>
MARROW_HD gda::Ticket post_batch(gda::SendQueue<P>& sq, const LitmusJob& job, std::uint64_t i) {
  const gda::Solo team;
  const auto slots = sq.reserve(team, gda::Room{job.batch, 1});
  for (std::uint32_t k = 0; k < job.batch; ++k) {
    const auto to = job.to + (i + k) * job.bytes;
    if constexpr (P::payload == gda::Payload::kInline) {
      sq.write_value(slots[k], to, stamp_word(job.first + i + k));
    } else {
      const auto at = job.from + ((job.first + i + k) & (job.sources - 1)) * job.bytes;
      sq.write(slots[k], {.to = to, .from = at, .bytes = job.bytes});
    }
  }
  return sq.submit(team, slots);
}

/// The clerk has ticks(), stopping(n) and poll(word).
template <gda::PolicyType P, class Clerk>
MARROW_HD void litmus_puts(Clerk& clerk, const LitmusJob& job, LitmusReport& report) {
  const gda::Solo team;
  gda::SendQueue<P> sq(job.qp);
  for (std::uint64_t i = 0, n = 0; i < job.puts && report.result.ok() && !clerk.stopping(n); i += job.batch, ++n) {
    if constexpr (P::payload == gda::Payload::kPointer) {
      for (std::uint32_t k = 0; k < job.batch; ++k) write_source(job, i + k);
    }
    const auto start = clerk.ticks();
    const auto ticket = post_batch<P>(sq, job, i);
    const auto issued = clerk.ticks();
    if (job.issue != nullptr) job.issue[n] = issued - start;
    report.result = job.awaits ? sq.wait(team, ticket) : gda::Result{ticket.status};
    if (!report.result.ok()) break;
    report.puts = i + job.batch;
    if (job.awaits) look(clerk, job, i + job.batch - 1, report);
  }
  if (report.result.ok()) report.result = sq.drain(team);
  if (!report.result.ok()) report.dump = sq.dump();
}

}  // namespace marrow::experiments
