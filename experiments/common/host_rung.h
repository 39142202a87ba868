// SPDX-License-Identifier: Apache-2.0
// Queues whose records and registers a thread of the host stores to, for lanes that post with a forwarded doorbell
// (gda::DoorbellSequence::kForwarded). Stop 4 of 9 then has two halves: the lane's word, and the host's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "experiments/experiment.h"
#include "marrow/gda/host_ringer.h"
#include "verbs/memory.h"

namespace marrow::experiments {

class HostRung {
 public:
  /// \param queues  as the host sees them, records in host memory. Nothing was posted to them yet.
  /// \param words   where the lanes' words come from: host memory that the lanes reach.
  HostRung(const Context& context, const std::vector<gda::Qp>& queues, const verbs::MemorySource& words);
  HostRung(const HostRung&) = delete;
  HostRung& operator=(const HostRung&) = delete;

  /// Queue `i` as a lane takes it.
  [[nodiscard]] gda::Qp forwarded(gda::Qp lanes, std::size_t i = 0) const;

  /// Ends the thread. Adds that no word moved by more than its ring.
  void finish(measure::Record& record);

 private:
  [[nodiscard]] std::uint64_t& word(std::size_t i) const;

  std::unique_ptr<verbs::Memory> words_;
  gda::HostRinger ringer_;  // last: its thread uses the words
};

/// Reports the path of a bench whose queue is rung for. Otherwise as report_path() does.
template <class BenchOf>
void report_host_rung_path(const Context& context, const BenchOf& bench, unsigned lanes) {
  if (!context.report_path) return;
  Context telling = context;
  telling.report_path = [&](measure::ActivePath path) {
    path.doorbell = "a word in host memory; a host thread reads it, stores the record and rings";
    context.report_path(path);
  };
  report_path(telling, bench, lanes);
}

}  // namespace marrow::experiments
